/** Signs a browser in as a user, by a one-time link made with an administrator's token. */
import type { BrowserContext } from 'playwright-core'

const password = 'four words that nobody knows'

/** `token` has the scope admin. The context has the session's cookie afterwards. Throws refusals. */
export async function signInBrowser(
  context: BrowserContext,
  { url, token }: { readonly url: string; readonly token: string },
  user = 1,
): Promise<void> {
  const made = await fetch(`${url}/rest/api/v1/user/${user}/link`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"purpose":"reset"}',
  })
  if (made.status !== 201) throw new Error(`No link for user ${user}: ${await made.text()}`)
  const { data } = (await made.json()) as { data: { link: string } }
  const entered = await context.request.post(`${url}/rest/api/v1/session`, {
    data: { link: data.link, password },
    headers: { 'sec-fetch-site': 'same-origin' },
  })
  if (entered.status() !== 201) throw new Error(`Not signed in: ${await entered.text()}`)
}
