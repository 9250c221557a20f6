/**
 * How an answer goes over the network (D89): not at all, where the client has it already, and compressed
 * where the client asks for that. Knows no route.
 */
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Answer } from './answer.ts'

/** Less is not worth it: a packet holds that much. */
const worthCompressing = 1024
const brotli = promisify(brotliCompress)
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

const codings: { readonly [name: string]: (body: string | Buffer) => Promise<Buffer> } = {
  br: body => brotli(body, quickly),
  gzip: promisify<string | Buffer, Buffer>(gzip),
}

/** What a request says about the answer that it wants. */
export type Wanted = {
  readonly method: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}

/** The answer as this client gets it. `vary` is what the answer varies by besides. */
export async function transferred(
  answer: Answer,
  { method, headers }: Wanted,
  vary: string,
): Promise<Answer> {
  const { 'if-none-match': known, 'accept-encoding': accepted } = headers
  const isRead = method === 'GET' || method === 'HEAD'
  if (known && isRead && isKnown(answer, String(known))) return { ...answer, status: 304, body: '' }
  return accepted ? compressed(answer, String(accepted), vary) : answer
}

/** Whether the client names the answer's tag (RFC 9110 §13.1.2): a weak one will do. */
function isKnown({ status, headers = {} }: Answer, known: string): boolean {
  const { etag } = headers
  if (status !== 200 || typeof etag !== 'string') return false
  return known.trim() === '*' || known.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag)
}

async function compressed(answer: Answer, accepted: string, vary: string): Promise<Answer> {
  const { body, headers } = answer
  if (body instanceof Readable || body.length < worthCompressing) return answer
  const coding = codingOf(accepted)
  const etag = headers?.etag
  return {
    ...answer,
    body: coding ? await codings[coding]!(body) : body,
    headers: {
      ...headers,
      vary: vary ? `${vary}, accept-encoding` : 'accept-encoding',
      // The bytes depend on the compression, so the tag is a weak one (RFC 9110 §8.8.1).
      ...(coding && { 'content-encoding': coding, ...(typeof etag === 'string' && { etag: `W/${etag}` }) }),
    },
  }
}

/** The coding that Accept-Encoding likes best (RFC 9110 §12.5.3), of equal ones the smaller; or undefined. */
function codingOf(accepted: string): string | undefined {
  const weights = new Map(
    accepted.split(',', 20).map(part => {
      const [name = '', weight = ''] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*q=/)
      return [name, weight === '' ? 1 : Number(weight) || 0]
    }),
  )
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0
  const [best] = Object.keys(codings).sort((one, other) => weightOf(other) - weightOf(one))
  return weightOf(best!) > 0 ? best : undefined
}
