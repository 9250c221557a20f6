/**
 * The programs that ask for access by OAuth (D170): an address under which a program describes itself, or the
 * description itself, for programs that register. Nothing is stored of them. Knows no HTTP.
 */
import { memberProblem, Refusal } from '../../errors.ts'
import { isObject, type JsonObject, parseExactly } from '../../json.ts'
import { programName } from './program-name.ts'

export type OAuthClient = {
  /** its client_id */
  readonly id: string
  /** the name that it gives itself */
  readonly name: string
  /** the host that vouches for the name; null: nobody does */
  readonly host: string | null
  readonly redirectUris: readonly string[]
}

/** Checks an address and reads its document. Throws Refusal. */
export type ReadDocument = (url: URL) => Promise<string>

/** The longest description, as bytes of its JSON, and the longest client_id. */
const [documentMax, idMax] = [8192, 6000]
const redirectsMax = 20
const registered = 'registered:'

/** The client of a client_id. Throws `validation_failed`. */
export async function oauthClient(id: string, read: ReadDocument): Promise<OAuthClient> {
  if (id.length > idMax) throw wrong('client_id', 'The client_id is too long.')
  if (id.startsWith(registered)) return registeredClient(id)
  const url = URL.canParse(id) ? new URL(id) : null
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  const isAddress = url && isWeb && url.pathname !== '/' && url.href === id
  if (!isAddress || url.hash || url.username || url.password)
    throw wrong('client_id', 'The client_id must be the https address of a client metadata document.')
  const document = parsed(await read(url))
  if (document.client_id !== id)
    throw wrong('client_id', 'The document at the client_id names another client_id.')
  return { id, host: url.host, ...described(document) }
}

/**
 * The client_id of a program that registers (RFC 7591): its description in another form, so that nothing has
 * to be stored of programs that anybody may name. Throws `validation_failed`.
 */
export function registerClient(document: JsonObject): OAuthClient {
  const { name, redirectUris } = described(document)
  const text = JSON.stringify({ client_name: name, redirect_uris: redirectUris })
  const id = `${registered}${Buffer.from(text).toString('base64url')}`
  if (id.length > idMax) throw wrong('redirect_uris', 'The description is too long.')
  return { id, name, host: null, redirectUris }
}

function registeredClient(id: string): OAuthClient {
  const text = Buffer.from(id.slice(registered.length), 'base64url').toString()
  return { id, host: null, ...described(parsed(text)) }
}

function parsed(text: string): JsonObject {
  try {
    if (text.length <= documentMax) {
      const document = parseExactly(text, { levels: 8, items: 500 })
      if (isObject(document)) return document
    }
  } catch {
    // The same refusal.
  }
  throw wrong('client_id', `The client is described by a JSON object of at most ${documentMax} bytes.`)
}

function described(document: JsonObject): Pick<OAuthClient, 'name' | 'redirectUris'> {
  const { client_name: name, redirect_uris: uris } = document
  if (!Array.isArray(uris) || uris.length < 1 || uris.length > redirectsMax || !uris.every(isRedirect))
    throw wrong(
      'redirect_uris',
      `redirect_uris must be 1 to ${redirectsMax} addresses: https, http on this machine, or of a program.`,
    )
  return { name: programName(name) ?? 'A program without a name', redirectUris: uris as string[] }
}

/** Schemes that run what follows, or lead where no program waits. */
const dangerous =
  /^(javascript|data|vbscript|file|blob|about|filesystem|view-source|mailto|tel|sms|ftp|wss?|ms-[\w-]+|search-ms|intent):$/

function isRedirect(text: unknown): boolean {
  if (typeof text !== 'string' || text.length > 2000 || !URL.canParse(text)) return false
  const { protocol, hostname, hash, username, password } = new URL(text)
  if (hash || username || password || dangerous.test(protocol)) return false
  return protocol !== 'http:' || isLoopback(hostname)
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
}

/**
 * Throws `validation_failed` unless the client names the address. On this machine the port may be another: a
 * program takes any free one (RFC 8252 §7.3).
 */
export function requireRedirect({ redirectUris }: OAuthClient, uri: string): void {
  if (redirectUris.includes(uri)) return
  const url = URL.canParse(uri) ? new URL(uri) : null
  const isLocal = url?.protocol === 'http:' && isLoopback(url.hostname)
  const bare = (one: URL) => `${one.hostname}${one.pathname}${one.search}`
  const isNamed =
    isLocal &&
    redirectUris.some(named => new URL(named).protocol === 'http:' && bare(new URL(named)) === bare(url))
  if (!isNamed || !isRedirect(uri)) throw wrong('redirect_uri', 'The client does not name this redirect_uri.')
}

/** The refusal of a parameter of a request for access. */
export function wrong(field: string, message: string): Refusal {
  const problem = memberProblem(field, 'invalid_value', message)
  return new Refusal('validation_failed', 'The program could not be connected.', [problem])
}
