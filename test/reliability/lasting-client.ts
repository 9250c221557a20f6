/**
 * Clients that last: they send a request again, by the same idempotency key, until it is answered, and read
 * in a list what they have written.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import type { Send } from './service-process.ts'
import { type Known, write } from './writes.ts'

/** Counts over the requests of all clients. */
export type Experience = {
  /** requests that were sent again: refused with 503, or without an answer */
  again: number
  /** requests that were refused for another reason */
  refused: number
  /** reads of an own write */
  reads: number
  /** of these, the ones that did not show it */
  stale: number
}

export function noExperience(): Experience {
  return { again: 0, refused: 0, reads: 0, stale: 0 }
}

/** The requests of a client of `url` with this token. */
export function lastingClient(url: string, token: string, experience: Experience): Send {
  return async (method, path, body, key = randomUUID()) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'idempotency-key': key,
      ...(body ? { 'content-type': 'application/json' } : {}),
    }
    const written = await answered(
      `${url}/rest/api/v1/${path}`,
      { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) },
      experience,
    )
    const id = written.body.data?.id ?? path.split('/')[1]
    const seq = written.headers.get('dealwright-seq')
    const list = await answered(
      `${url}/rest/api/v1/deal/view/list?filter=id:eq(${id})`,
      { headers: { authorization: headers.authorization, ...(seq ? { 'dealwright-seq': seq } : {}) } },
      experience,
    )
    const [found] = list.body.data
    const expected = method === 'DELETE' ? undefined : written.body.data.version
    experience.reads++
    if (found?.version !== expected) {
      experience.stale++
      console.error(`${method} ${path}: version ${found?.version} was read, not ${expected}`)
    }
    return written.body
  }
}

/** The answer to a request, once it has one. Throws refusals. */
async function answered(url: string, request: RequestInit, experience: Experience) {
  for (;;) {
    try {
      const response = await fetch(url, request)
      const text = await response.text()
      if (response.ok) return { headers: response.headers, body: text ? JSON.parse(text) : {} }
      if (response.status !== 503) {
        experience.refused++
        console.error(`${request.method ?? 'GET'} ${url}: ${response.status} ${text}`)
        throw new Error(text)
      }
    } catch (error) {
      // `fetch` throws a TypeError if there is no whole answer.
      if (!(error instanceof TypeError)) throw error
    }
    experience.again++
    await sleep(100)
  }
}

/** A client, and the writes of all clients of its account. */
export type Writer = { readonly send: Send; readonly known: Known }

/** Carries out `act` beside writers: once each account has new records, and until it has further ones. */
export async function besideWrites(
  writers: readonly Writer[],
  round: number,
  act: () => Promise<unknown>,
): Promise<void> {
  let isOver = false
  const written = writers.map(({ send, known }, index) =>
    write(send, `r${round}w${index}`, known, () => !isOver),
  )
  const accounts = new Set(writers.map(({ known }) => known))
  const progress = () => Promise.all([...accounts].map(furtherRecords))
  await progress()
  await act()
  await progress()
  isOver = true
  await Promise.all(written)
}

function furtherRecords({ records }: Known): Promise<boolean> {
  const wanted = records.size + 16
  return eventually(() => records.size >= wanted, 'further records')
}
