/** Requests: authorized, tried again where that is safe, answered by JSON or an exception. */
import { errorOf } from './errors.ts'

export type Options = {
  /** where the service is, such as https://crm.example.com */
  readonly url: string
  /** none in a browser whose session cookie says who asks */
  readonly token?: string
  /** how often a request is tried again: 3 by default */
  readonly retries?: number
  /** how long one attempt may take, in milliseconds: 60 000 by default */
  readonly timeoutMs?: number
  /** another fetch than the platform's */
  readonly fetch?: typeof fetch
}

export type Query = { readonly [name: string]: string | number | boolean | readonly string[] | undefined }

export type Asked = {
  readonly query?: Query | undefined
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string } | undefined
  /** aborts the request */
  readonly signal?: AbortSignal | undefined
}

export type Answered = { readonly status: number; readonly headers: Headers; readonly body: unknown }

/** Busy or out of reach for a moment: 409 is tried again where the service says when. */
const passing = new Set([408, 429, 502, 503, 504])
const longestWaitMs = 30_000

export class Http {
  readonly #options: Options
  readonly #fetch: typeof fetch

  constructor(options: Options) {
    this.#options = options
    const given = options.fetch ?? globalThis.fetch
    // A browser's fetch may be called on nothing but the window.
    this.#fetch = (...args) => given(...args)
  }

  /**
   * Asks, and asks again after an answer that says "later" or a connection that broke. A write has an
   * Idempotency-Key, so it is carried out once however often it is sent. Throws a DealwrightError for a
   * refusal, and what fetch throws where no answer comes. 304 is an answer without a body.
   */
  async ask(method: string, path: string, asked: Asked = {}): Promise<Answered> {
    const { retries = 3 } = this.#options
    const init = this.#init(method, asked)
    const url = new URL(path, this.#options.url)
    for (const [name, value] of Object.entries(asked.query ?? {}))
      for (const one of [value].flat()) if (one !== undefined) url.searchParams.append(name, String(one))
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= retries
      const reply = await this.#send(url, init, asked.signal).catch(error => {
        if (isLast || asked.signal?.aborted) throw error
        return null
      })
      if (reply?.response.ok || reply?.response.status === 304) return answered(reply)
      const error = reply && errorOf(reply.response, reply.text)
      const isPassing =
        !error || passing.has(error.status) || (error.status === 409 && error.retryAfter !== null)
      if (error && (isLast || !isPassing)) throw error
      await waited(error?.retryAfter ?? null, attempt, asked.signal)
    }
  }

  #init(method: string, { body, headers }: Asked): RequestInit {
    return {
      method,
      headers: {
        accept: 'application/json',
        ...(this.#options.token === undefined ? {} : { authorization: `Bearer ${this.#options.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(method === 'GET' ? {} : { 'idempotency-key': crypto.randomUUID() }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
  }

  /** The whole answer: a connection may break amid it, too. */
  async #send(url: URL, init: RequestInit, signal: AbortSignal | undefined): Promise<Reply> {
    const limit = AbortSignal.timeout(this.#options.timeoutMs ?? 60_000)
    const response = await this.#fetch(url, {
      ...init,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    return { response, text: await response.text() }
  }
}

type Reply = { readonly response: Response; readonly text: string }

function answered({ response, text }: Reply): Answered {
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
}

/** Waits as long as the service says, else longer each time, with a part of chance. */
function waited(seconds: number | null, attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const ownMs = 200 * 2 ** attempt * (0.5 + Math.random())
  const ms = Math.min(longestWaitMs, Math.max(ownMs, (seconds ?? 0) * 1000))
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}
