/** Requests: authorized, retried where that is safe, answered by JSON or an exception. */
import { errorOf } from './errors.ts'

export type Options = {
  /** base URL of the service, such as https://crm.example.com */
  readonly url: string
  /** absent in a browser, whose session cookie identifies the caller */
  readonly token?: string
  /** number of retries; default: 3 */
  readonly retries?: number
  /** timeout of one attempt, in milliseconds; default: 60 000 */
  readonly timeoutMs?: number
  /** replaces the platform's fetch */
  readonly fetch?: typeof fetch
}

export type Query = { readonly [name: string]: string | number | boolean | readonly string[] | undefined }

export type Asked = {
  readonly query?: Query | undefined
  readonly body?: unknown
  /** with an `accept` other than JSON, `body` of the answer is its text */
  readonly headers?: { readonly [name: string]: string } | undefined
  /** aborts the request */
  readonly signal?: AbortSignal | undefined
}

export type Answered = { readonly status: number; readonly headers: Headers; readonly body: unknown }

/** Temporary statuses. A 409 is retried if it has a Retry-After. */
const passing = new Set([408, 429, 502, 503, 504])
const longestWaitMs = 30_000

/** The account's last event, as answers and requests tell it. */
const seqHeader = 'dealwright-seq'

export class Http {
  readonly #options: Options
  readonly #fetch: typeof fetch
  /** the newest event of the account that this client knows of */
  #seq = 0

  constructor(options: Options) {
    this.#options = options
    const given = options.fetch ?? globalThis.fetch
    // A browser's fetch must be called with the window as `this`.
    this.#fetch = (...args) => given(...args)
  }

  /**
   * Sends a request, and retries it after a temporary status or a broken connection. A write has an
   * Idempotency-Key, so retries carry it out once. Throws a DealwrightError for a refusal, and fetch's error
   * without an answer. 304 is an answer without a body.
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
      if (reply?.response.ok || reply?.response.status === 304) return answered(reply, init.headers.accept)
      const error = reply && errorOf(reply.response, reply.text)
      const isPassing =
        !error || passing.has(error.status) || (error.status === 409 && error.retryAfter !== null)
      if (error && (isLast || !isPassing)) throw error
      await waited(error?.retryAfter ?? null, attempt, asked.signal)
    }
  }

  /** From now on no answer is older than the account's event `seq`, which the client knows of. */
  atLeast(seq: number): void {
    this.#seq = Math.max(this.#seq, seq)
  }

  #init(method: string, { body, headers }: Asked): RequestInit & { readonly headers: { accept: string } } {
    return {
      method,
      headers: {
        accept: 'application/json',
        ...(this.#options.token === undefined ? {} : { authorization: `Bearer ${this.#options.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(method === 'GET' ? {} : { 'idempotency-key': crypto.randomUUID() }),
        ...(this.#seq > 0 ? { [seqHeader]: String(this.#seq) } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
  }

  /** Reads the whole answer: a connection may break in its middle, too. */
  async #send(url: URL, init: RequestInit, signal: AbortSignal | undefined): Promise<Reply> {
    const limit = AbortSignal.timeout(this.#options.timeoutMs ?? 60_000)
    const response = await this.#fetch(url, {
      ...init,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    this.atLeast(Number(response.headers.get(seqHeader)) || 0)
    return { response, text: await response.text() }
  }
}

type Reply = { readonly response: Response; readonly text: string }

function answered({ response: { status, headers }, text }: Reply, accept: string): Answered {
  if (text === '') return { status, headers, body: null }
  return { status, headers, body: accept === 'application/json' ? JSON.parse(text) : text }
}

/** Waits for Retry-After, else with exponential backoff and jitter. */
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
