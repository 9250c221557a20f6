/**
 * Sign-in by an OpenID provider (D61): the authorization code flow with state, nonce and PKCE, which a
 * short-lived cookie stores. The provider verifies the e-mail; sign-in.ts finds its user.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { SignIn } from '../../accounts/sign-in/sign-in.ts'
import type { OpenIdSettings } from '../../config.ts'
import { Refusal } from '../../errors.ts'
import { isObject, jsonIn } from '../../json.ts'
import { type Answer, okAnswer } from '../answer.ts'
import { type Client, sessionSeconds } from '../client.ts'
import { invalidParameter, readParameters } from '../parameters.ts'
import { refusalOf } from '../refusals.ts'
import { refusedPage } from '../refused-page.ts'
import type { AnonymousRequest } from '../request.ts'
import type { AnonymousHandler } from '../route.ts'

const signInPath = '/rest/api/v1/session/openid'
const callbackPath = `${signInPath}/callback`
/** Time for the user to sign in at the provider. */
const flowSeconds = 600
/** Wait before another attempt to reach a provider that failed. */
const retryMs = 5_000
/** Timeout of requests to the provider. */
const timeoutSeconds = 5

/**
 * A path of this service. Browsers take a path that begins with two slashes or backslashes for another host.
 */
export const ownPath = /^\/(?![/\\])[\x21-\x7e]{0,999}$/

/** The state of a sign-in, in a cookie while the user is at the provider. */
type Flow = {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly account: number | null
  /** path of this service to open after the sign-in */
  readonly to: string
}

/** The provider. Its discovery document is fetched at the first use. */
export class OpenId {
  readonly #settings: OpenIdSettings
  readonly #publicUrl: string
  readonly #clock: () => number
  readonly #log: (line: string) => void
  #configuration: Promise<Configuration> | null = null
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(settings: OpenIdSettings, publicUrl: string, clock: () => number, log: (line: string) => void) {
    this.#settings = settings
    this.#publicUrl = publicUrl
    this.#clock = clock
    this.#log = log
  }

  /** The authorization URL for the browser. */
  async begin(flow: Flow): Promise<string> {
    const configuration = await this.#found()
    return buildAuthorizationUrl(configuration, {
      redirect_uri: this.#publicUrl + callbackPath,
      scope: 'openid email',
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    }).href
  }

  /** The e-mail that the provider has verified. Throws `unauthenticated` and `forbidden`. */
  async verifiedEmail(url: string, { state, nonce, verifier }: Flow): Promise<string> {
    const configuration = await this.#found()
    const address = new URL(this.#publicUrl + url.slice(url.indexOf('/')))
    const claims = await this.#claims(configuration, address, state, nonce, verifier)
    if (typeof claims.email !== 'string' || claims.email_verified !== true)
      throw new Refusal('forbidden', 'The OpenID provider has not verified an e-mail of yours.')
    return claims.email
  }

  async #claims(
    configuration: Configuration,
    address: URL,
    expectedState: string,
    expectedNonce: string,
    pkceCodeVerifier: string,
  ): Promise<{ readonly [claim: string]: unknown }> {
    const checks = { expectedState, expectedNonce, pkceCodeVerifier, idTokenExpected: true }
    try {
      const tokens = await authorizationCodeGrant(configuration, address, checks)
      const claims = tokens.claims()!
      if (claims.email !== undefined) return claims
      return await fetchUserInfo(configuration, tokens.access_token, claims.sub)
    } catch (error) {
      this.#log(`A sign-in by OpenID failed: ${reasonOf(error)}`)
      throw new Refusal('unauthenticated', 'The sign-in at the OpenID provider failed; begin it again.')
    }
  }

  async #found(): Promise<Configuration> {
    const isDue = this.#clock() - this.#askedAt >= retryMs
    if (!this.#configuration && isDue) {
      this.#askedAt = this.#clock()
      const { issuer, clientId, clientSecret } = this.#settings
      // A provider without TLS is allowed only on this machine (src/config.ts).
      const execute = issuer.startsWith('http:') ? [allowInsecureRequests] : []
      this.#configuration = discovery(new URL(issuer), clientId, clientSecret, undefined, {
        execute,
        timeout: timeoutSeconds,
      })
      this.#configuration.catch(error => {
        this.#configuration = null
        this.#log(`The OpenID provider ${issuer} is not available: ${reasonOf(error)}`)
      })
    }
    const found = await this.#configuration?.catch(() => null)
    if (found) return found
    throw new Refusal('provider_unavailable', 'The OpenID provider can’t be reached; try again.', [], {
      'retry-after': String(retryMs / 1000),
    })
  }
}

function reasonOf(error: unknown): string {
  const { message, code, cause } = error as { message?: string; code?: string; cause?: unknown }
  const inner = cause instanceof Error ? ` (${cause.message})` : ''
  return `${code ?? ''} ${message ?? error}${inner}`.trim()
}

/**
 * The handlers of sign-in by OpenID, and of the list of ways to sign in. Without a provider they answer
 * `route_not_found`.
 */
export function openIdHandlers(
  signIn: SignIn,
  openId: OpenId | null,
): { readonly ways: AnonymousHandler; readonly begin: AnonymousHandler; readonly end: AnonymousHandler } {
  const provider = () => {
    if (openId) return openId
    throw new Refusal('route_not_found', 'Sign-in by OpenID is not set up: set OIDC_ISSUER.')
  }
  return {
    ways: async ({ query }) => {
      readParameters(query, [], [])
      return okAnswer(JSON.stringify({ password: true, openid: openId !== null }))
    },
    begin: request => shown(request, '/', () => begin(provider(), request)),
    end: request => {
      const flow = flowOf(request.client)
      return shown(request, flow?.to ?? '/', () => end(provider(), signIn, request, flow))
    },
  }
}

/** The response; in a browser, a refusal becomes a page with a way on. */
async function shown(
  { wantsPage }: AnonymousRequest,
  to: string,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer()
  } catch (error) {
    const refusal = wantsPage ? refusalOf(error) : null
    if (!refusal) throw error
    return refusedPage(refusal, signInPath, to)
  }
}

async function begin(openId: OpenId, { query, client }: AnonymousRequest): Promise<Answer> {
  const { account, to = '/' } = readParameters(query, ['account', 'to'], [])
  if (account !== undefined && !/^\d{1,15}$/.test(account))
    throw invalidParameter('account', 'account must be the id of an account.')
  if (!ownPath.test(to))
    throw invalidParameter(
      'to',
      'to must be a path of this service, such as /deals: 1 to 1000 characters of ASCII.',
    )
  const flow: Flow = {
    state: randomState(),
    nonce: randomNonce(),
    verifier: randomPKCECodeVerifier(),
    account: account === undefined ? null : Number(account),
    to,
  }
  const cookie = Buffer.from(JSON.stringify(flow)).toString('base64url')
  return redirect(await openId.begin(flow), [client.setCookie('openid', cookie, flowSeconds)])
}

async function end(
  openId: OpenId,
  signIn: SignIn,
  { url, client }: AnonymousRequest,
  flow: Flow | null,
): Promise<Answer> {
  if (!flow)
    throw new Refusal(
      'unauthenticated',
      'This browser did not begin to sign in, or took too long: begin again.',
    )
  const email = await openId.verifiedEmail(url, flow)
  const secret = await signIn.byVerifiedEmail(email, flow.account, client)
  return redirect(flow.to, [
    client.setCookie('openid', '', 0),
    client.setCookie('session', secret, sessionSeconds),
  ])
}

function redirect(location: string, cookies: string[]): Answer {
  return { status: 302, headers: { location, 'set-cookie': cookies }, body: '' }
}

/** The content of the cookie; null if there is none, or it is invalid. */
function flowOf(client: Client): Flow | null {
  const cookie = client.cookie('openid')
  if (!cookie) return null
  const flow = jsonIn(Buffer.from(cookie, 'base64url').toString())
  if (!isObject(flow)) return null
  const { state, nonce, verifier, account, to } = flow
  if (typeof state !== 'string' || typeof nonce !== 'string' || typeof verifier !== 'string') return null
  if (typeof to !== 'string' || !ownPath.test(to)) return null
  return { state, nonce, verifier, account: typeof account === 'number' ? account : null, to }
}
