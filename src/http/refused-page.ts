/**
 * The page of a refused sign-in by a provider (D61): HTML, because the browser comes from another site and
 * has not loaded the web UI. It has the UI's style sheet, and looks like its sign-in.
 */
import { existsSync, readFileSync } from 'node:fs'
import { errorTable, type Refusal } from '../errors.ts'
import { isObject, type Json } from '../json.ts'
import type { Answer } from './answer.ts'
import { pageHeaders, webDirectory } from './web.ts'

/** Offers a choice of accounts, and another attempt; both lead `to`. The links of accounts go to `signIn`. */
export function refusedPage(
  { slug, message, problems, headers }: Refusal,
  signIn: string,
  to: string,
): Answer {
  const [problem] = problems
  const accounts = Array.isArray(problem?.candidates) ? (problem.candidates as Json[]).filter(isObject) : []
  const choices = accounts.map(({ id, name }) => {
    const query = new URLSearchParams({ account: String(id), to })
    return `<li>${linkHtml(`${signIn}?${query}`, String(name))}</li>`
  })
  return {
    status: errorTable[slug].status,
    headers: { ...headers, ...pageHeaders, 'content-type': 'text/html; charset=utf-8' },
    body: pageHtml(
      accounts.length ? 'Which account?' : 'You are not signed in',
      `<p>${escaped(message)}</p>
${choices.length ? `<ul class="my-3">${choices.join('')}</ul>` : ''}
<p class="mt-3">${linkHtml(`/sign-in?${new URLSearchParams({ to })}`, 'Back to the sign-in')}</p>`,
    ),
  }
}

function linkHtml(address: string, text: string): string {
  return `<a class="linked inline-block" href="${escaped(address)}">${escaped(text)}</a>`
}

/** web/src/styles.css names this file, so that the style sheet has its classes. */
function pageHtml(title: string, content: string): string {
  const style = styleSheet()
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Dealwright</title>${style ? `<link rel="stylesheet" href="${style}">` : ''}</head>
<body><main class="flex min-h-dvh items-center justify-center bg-canvas p-4">
<div class="w-full max-w-[360px] rounded-lg border border-line bg-surface p-6 shadow-float">
<h1 class="mb-4 text-xl">${title}</h1>
${content}</div></main></body></html>`
}

/** The address of the web UI's style sheet; undefined if the UI has not been built. */
function styleSheet(): string | undefined {
  const index = `${webDirectory}/index.html`
  if (!existsSync(index)) return undefined
  return /<link rel="stylesheet"[^>]* href="([^"]+)"/.exec(readFileSync(index, 'utf8'))?.[1]
}

const entities: { readonly [sign: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, sign => entities[sign]!)
}
