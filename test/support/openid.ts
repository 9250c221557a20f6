/** An OpenID provider for tests: a real one, over real HTTP, and a service whose users sign in by it. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import Provider from 'oidc-provider'
import { type Browser, browser, type Page } from './browser.ts'
import { type Service, v1 } from './service.ts'

export type SignInByProvider = {
  /** the service's address for browsers */
  readonly url: string
  readonly issuer: string
  /** Sets the claims of the next sign-in. */
  says(claims: { [name: string]: unknown }): void
  /** Follows the redirect to the provider and signs in there; returns the address of the callback. */
  atProvider(start: string): Promise<string>
  /** A sign-in from beginning to end. */
  throughProvider(own?: Browser, query?: string): Promise<Page>
}

export const openIdPath = `${v1}/session/openid`

/** Another process of the service, with a provider that ends with the test file. */
export async function signInByProvider(service: Pick<Service, 'another'>): Promise<SignInByProvider> {
  const client = { id: 'dealwright', secret: 'a secret of the provider and the service' }
  let claims: { [name: string]: unknown } = {}
  const provider = await listening(createServer())
  const settings = { issuer: provider.url, clientId: client.id, clientSecret: client.secret }
  const { url } = await serviceWith(service, settings)
  const oidc = new Provider(provider.url, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${url}${openIdPath}/callback`],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub, ...claims }) }),
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
  })
  provider.server.on('request', oidc.callback())
  const atProvider = async (start: string) => {
    const there = browser(provider.url)
    let page = await there.send('GET', start)
    for (let step = 0; step < 12; step++) {
      const location = page.headers.location
      if (location?.startsWith(url)) return location
      page = location ? await there.send('GET', location) : await submitted(provider.url, there, page)
    }
    throw new Error(`the provider sends nobody back: ${page.status} ${page.text}`)
  }
  return {
    url,
    issuer: provider.url,
    says: said => {
      claims = said
    },
    atProvider,
    throughProvider: async (own = browser(url), query = '') => {
      const begun = await own.send('GET', openIdPath + query)
      assert.equal(begun.status, 302, begun.text)
      return own.send('GET', await atProvider(begun.headers.location!))
    },
  }
}

/** Another process of the service, with the settings of a provider. */
export async function serviceWith(
  service: Pick<Service, 'another'>,
  openId: { issuer: string; clientId: string; clientSecret: string },
): Promise<{ url: string }> {
  // The address is known when it listens; the service needs it before.
  const { server, url } = await listening(createServer())
  await new Promise(resolve => server.close(resolve))
  return service.another({ publicUrl: url, openId })
}

async function listening(server: Server): Promise<{ server: Server; url: string }> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Submits the form of the provider's page. */
async function submitted(provider: string, there: Browser, page: Page): Promise<Page> {
  const action = /action="([^"]+)"/.exec(page.text)?.[1]
  const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1]
  assert.ok(action && prompt, page.text)
  const form = new URLSearchParams({
    prompt,
    ...(prompt === 'login' ? { login: 'somebody', password: 'any' } : {}),
  })
  const cookie = [...there.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const reply = await fetch(new URL(action, provider), {
    method: 'POST',
    body: form,
    headers: { cookie },
    redirect: 'manual',
  })
  for (const line of reply.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
    there.cookies.set(name!, value!)
  }
  return {
    status: reply.status,
    headers: Object.fromEntries(reply.headers),
    cookies: [],
    text: await reply.text(),
    body: null,
  }
}
