/** What somebody is shown where signing in at the OpenID provider ends with a refusal (D61). */
import { frameHtml } from '../docs/pages.ts'
import { escaped } from '../docs/reference.js'
import { errorTable, type Refusal } from '../errors.ts'
import { isObject, type Json } from '../json.ts'
import type { Answer } from './answer.ts'
import { pageHeaders } from './docs.ts'

/** The page of a refusal. It offers the accounts to choose from, and to begin again; both lead `to`. */
export function refusedPage({ slug, message, problems, headers }: Refusal, to: string): Answer {
  const [problem] = problems
  const accounts = Array.isArray(problem?.candidates) ? (problem.candidates as Json[]).filter(isObject) : []
  const choices = accounts.map(({ id, name }) => {
    const query = new URLSearchParams({ account: String(id), to })
    return `<li><a href="/rest/api/v1/session/openid?${escaped(query)}">${escaped(name)}</a></li>`
  })
  const title = accounts.length ? 'Which account?' : 'You are not signed in'
  const again = `<p><a href="/sign-in?${escaped(new URLSearchParams({ to }))}">Back to the sign-in</a></p>`
  const list = choices.length ? `<ul>${choices.join('')}</ul>` : ''
  const body = frameHtml(title, '', `<h1>${title}</h1><p>${escaped(message)}</p>${list}${again}`)
  return {
    status: errorTable[slug].status,
    headers: { ...headers, ...pageHeaders, 'content-type': 'text/html; charset=utf-8' },
    body,
  }
}
