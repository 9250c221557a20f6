/**
 * A browser as far as sign-in is concerned: it stores cookies, and sends the origin of the requesting page.
 */
import { request as httpRequest } from 'node:http'
import { type Json, parseJson } from '../../src/json.ts'

export type Page = {
  status: number
  headers: { [name: string]: string }
  cookies: string[]
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the test is about
  body: any
}

export type Browser = {
  /** name → value of the stored cookies */
  readonly cookies: Map<string, string>
  /** A request from a page of the service; `headers` override its headers, '' removes one. */
  send(method: string, path: string, body?: Json, headers?: { [name: string]: string }): Promise<Page>
}

export function browser(url: string): Browser {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async send(method, path, body, headers = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const page = await sent(new URL(path, url), method, body, {
        ...(cookie ? { cookie } : {}),
        'sec-fetch-site': 'same-origin',
        ...headers,
      })
      for (const line of page.cookies) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
        if (/; Max-Age=0(;|$)/i.test(line) || value === '') cookies.delete(name!)
        else cookies.set(name!, value!)
      }
      return page
    },
  }
}

function sent(
  url: URL,
  method: string,
  body: Json | undefined,
  given: { [name: string]: string },
): Promise<Page> {
  const all = { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...given }
  const headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      response.on('end', () => {
        const { 'set-cookie': cookies = [], ...others } = response.headers
        const isJson = others['content-type']?.includes('json') && text !== ''
        resolve({
          status: response.statusCode!,
          headers: others as { [name: string]: string },
          cookies,
          text,
          body: isJson ? parseJson(text) : null,
        })
      })
    })
    request.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}
