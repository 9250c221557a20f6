/**
 * The texts of the documentation (D140), as Markdown: the guides, which are the sections of
 * docs/api/README.md, docs/webhooks.md and docs/mcp.md, the errors and the decisions. Knows no account and no
 * HTTP. The same texts are in the repository, where tests execute their examples.
 */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** Name in the path, below /docs → text. '' is the first page: an introduction, and a list of all pages. */
export function documents(resources: readonly string[]): ReadonlyMap<string, string> {
  const [introduction = '', ...sections] = read('api/README.md').split(/^## /m)
  const guides = [
    ...sections.map(text => documentOf('api/README.md', `# ${text.replace(/^###/gm, '##')}`)),
    documentOf('webhooks.md', read('webhooks.md')),
    documentOf('mcp.md', read('mcp.md')),
  ]
  const subjects = decisionPages()
  const places = new Map([
    ...published,
    ...subjects.map(({ file, slug }) => [file, `/docs/decisions#${slug}`] as const),
    ...guides.flatMap(placesIn),
  ])
  const linked = ({ file, text }: Pick<Document, 'file' | 'text'>) => withLinks(file, text, places)
  const whole = (file: string) => linked({ file, text: read(file) })
  const decisions = subjects.map(({ file, text }) => linked({ file, text: `#${text}` }))
  const start = linked({ file: 'api/README.md', text: introduction.trim() })
  return new Map([
    ['', `${start}\n\n${contents(guides, resources)}`],
    ...guides.map(guide => [guide.slug, linked(guide)] as const),
    ['errors', whole('api/errors.md')],
    ['decisions', [whole('decisions/README.md'), ...decisions].join('\n\n')],
    ['reference', reference],
  ])
}

/** A text with a title, of a file in docs/. */
type Document = {
  readonly file: string
  readonly title: string
  readonly slug: string
  readonly text: string
}

function documentOf(file: string, text: string): Document {
  const title = text.slice(2).split('\n', 1)[0]!
  return { file, title, slug: slugOf(title), text }
}

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8').trim()

const reference = `# Reference

[/openapi.json](/openapi.json) describes every request and every field. With a token it is the document of
the token's own account. In a browser, this page shows it.`

/** File in docs/ → its place here. A link to another file becomes plain text. */
const published: readonly (readonly [string, string])[] = [
  ['api/README.md', '/docs'],
  ['api/errors.md', '/docs/errors'],
  ['api/openapi.json', '/openapi.json'],
  ['decisions/README.md', '/docs/decisions'],
  ['webhooks.md', '/docs/receiving-webhooks'],
  ['mcp.md', '/docs/agents'],
]

/** The pages of decisions, in the order of their index. */
function decisionPages(): Document[] {
  const rows = read('decisions/README.md').matchAll(/^\| \[.+?\]\((.+?)\) \|/gm)
  return [...rows].map(([, name]) => documentOf(`decisions/${name}`, read(`decisions/${name}`)))
}

/** The anchors of headings, as GitHub makes them. */
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

/** The headings of a guide, as anchors of its file → their places here. */
function placesIn({ file, slug, text }: Document): (readonly [string, string])[] {
  const inner = [...text.matchAll(/^#{2,} (.+)$/gm)].map(([, title]) => slugOf(title!))
  return [
    [`${file}#${slug}`, `/docs/${slug}`],
    ...inner.map(anchor => [`${file}#${anchor}`, `/docs/${slug}#${anchor}`] as const),
  ]
}

function withLinks(file: string, text: string, places: ReadonlyMap<string, string>): string {
  return text.replace(/\[([^\]]+)\]\((?!https:)([^)]+)\)/g, (_, words: string, target: string) => {
    const [path = '', anchor = ''] = target.split('#')
    const named = path ? posix.join(posix.dirname(file), path) : file
    const place = places.get(anchor ? `${named}#${anchor}` : named)
    return place ? `[${words}](${place})` : words
  })
}

function contents(guides: readonly Document[], resources: readonly string[]): string {
  const link = (title: string, path: string) => `- [${title}](${path})`
  return [
    ...['## Guides', '', ...guides.map(({ title, slug }) => link(title, `/docs/${slug}`)), ''],
    ...['## Reference', '', link('All requests', '/docs/reference'), link('Errors', '/docs/errors')],
    ...[link('Decisions', '/docs/decisions'), link('openapi.json', '/openapi.json'), ''],
    ...['## Requests', '', ...resources.map(name => link(titled(name), `/docs/reference/${name}`)), ''],
  ].join('\n')
}

/** `pipeline_stage` → Pipeline stage */
const titled = (name: string) => `${name[0]!.toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`
