/**
 * The pages of the documentation (D140): the guides, which are the sections of docs/api/README.md and
 * docs/webhooks.md, the errors, and the reference. Built once; knows no account. The same texts are in the
 * repository, where their examples are executed.
 */
import { readFileSync } from 'node:fs'
import { marked } from 'marked'
import type { Schema } from '../../fields/field.ts'
import { referenceHtml, tagsOf } from './reference.js'

/** A file in the form that the browser gets. */
export type Page = { readonly type: string; readonly body: string }

const html = 'text/html; charset=utf-8'
const script = 'text/javascript; charset=utf-8'

const near = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const written = (name: string) => near(`../../../docs/api/${name}`)

/** Name in the path, below /docs → page. '' is the start page. */
export function documentPages(document: Schema): ReadonlyMap<string, Page> {
  const [introduction = '', ...sections] = written('README.md').split(/^## /m)
  const texts = [...sections.map(text => `# ${text}`), near('../../../docs/webhooks.md')]
  const guides = texts.map(text => {
    const title = text.slice(2).split('\n', 1)[0]!
    return { title, name: slugOf(title), text }
  })
  const navigation = (current: string) => navigationHtml(guides, document, current)
  const page = (name: string, title: string, content: string): [string, Page] => [
    name,
    { type: html, body: frameHtml(title, navigation(name), content) },
  ]
  return new Map([
    page('', 'Documentation', rendered(introduction) + contentsHtml(guides)),
    ...guides.map(({ name, title, text }) => page(name, title, rendered(text))),
    page('errors', 'Errors', withAnchors(rendered(written('errors.md')))),
    page(
      'reference',
      'Reference',
      `${readerHtml}<div id="reference">${referenceHtml(document)}</div>${scripts}`,
    ),
    ['style.css', { type: 'text/css; charset=utf-8', body: near('style.css') }],
    ['reference.js', { type: script, body: near('reference.js') }],
    ['try.js', { type: script, body: near('try.js') }],
  ])
}

type Guide = { readonly title: string; readonly name: string }

function slugOf(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

/** Markdown as HTML; links between the documents become links between the pages. */
function rendered(markdown: string): string {
  const text = markdown
    .replaceAll('](errors.md', '](/docs/errors')
    .replaceAll('](openapi.json', '](/openapi.json')
    .replaceAll('](../webhooks.md', '](/docs/receiving-webhooks')
    .replace(/\]\(#([\w-]+)\)/g, (_, name) => `](/docs/${name})`)
    // Links to documents that are not published become plain text.
    .replace(/\[([^\]]+)\]\(\.\.\/[^)]*\)/g, (_, words) => words)
  return (marked.parse(text) as string).replace(
    /<table>.*?<\/table>/gs,
    table => `<div class="wide">${table}</div>`,
  )
}

/** Anchors for the links in `type` of problems: rows of the errors, and of the codes of problems. */
function withAnchors(page: string): string {
  return page
    .replace(/<tr>(\s*<td>\d+<\/td>\s*<td><code>(\w+)<\/code>)/g, (_, row, slug) => `<tr id="${slug}">${row}`)
    .replace(/<tr>(\s*<td><code>(\w+)<\/code>)/g, (_, row, code) => `<tr id="problem-${code}">${row}`)
}

function navigationHtml(guides: readonly Guide[], document: Schema, current: string): string {
  const link = (name: string, title: string) =>
    `<a href="/docs${name && `/${name}`}"${name === current ? ' aria-current="page"' : ''}>${title}</a>`
  const resources = tagsOf(document).map(
    tag => `<a href="/docs/reference#${tag}">${tag.replaceAll('_', ' ')}</a>`,
  )
  // On a phone the pages are a menu; otherwise they would fill the first screen.
  return `<nav aria-label="Documentation"><a class="brand" href="/docs">Dealwright</a>
    <button type="button" popovertarget="pages">Pages</button><div id="pages" popover>
    <strong>Guides</strong><div>${guides.map(({ name, title }) => link(name, title)).join('')}${link('errors', 'Errors')}</div>
    <strong>Reference</strong><div>${link('reference', 'All requests')}${resources.join('')}
    <a href="/openapi.json">openapi.json</a></div></div></nav>`
}

function contentsHtml(guides: readonly Guide[]): string {
  return `<ul>${guides.map(({ name, title }) => `<li><a href="/docs/${name}">${title}</a></li>`).join('')}</ul>`
}

const readerHtml = `<h1>Reference</h1>
<p id="state">This is the service itself. Give a token to see the fields of your account and to send requests.</p>
<form id="token"><label>Token, which stays in this tab<input type="password" autocomplete="off" required></label>
<button>Show my account</button></form>`

const scripts = '<script type="module" src="/docs/try.js"></script>'

/** A whole page around its content, with `navigation` beside it. */
export function frameHtml(title: string, navigation: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Dealwright</title><link rel="stylesheet" href="/docs/style.css"></head>
<body>${navigation}<main>${content}</main></body></html>`
}
