/** The import rules of ARCHITECTURE.md. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kinds } from '../../src/fields/kinds.ts'
import { resources } from '../../src/resources/resources.ts'
import { importsOf, sources } from './sources.ts'

/** Files of `from` must import nothing that matches `never`. */
const rules: readonly { readonly from: RegExp; readonly never: RegExp }[] = [
  {
    from: /^src\/(records|lists|history|fields)\//,
    never: /^src\/(resources|http|app|serve|main|cli|accounts|db\/(?!constraint))/,
  },
  {
    from: /^src\/(?!http\/|app\.ts|observe\.ts|serve\.ts|supervise\.ts)/,
    never: /^(fastify|node:https?)$|^src\/(http\/(?!openapi\/)|app\.ts)/,
  },
  // The entry starts the service only on request.
  { from: /^src\/(?!main\.ts)/, never: /^src\/(serve|supervise|main)\.ts/ },
  {
    from: /^src\/(?!http\/|app\.ts|local-socket\.ts|db\/postgres\/server-address\.ts|work\/webhooks\/(address|outgoing)\.ts)/,
    never: /^node:(net|tls)$/,
  },
  // Outgoing requests pass the check of their addresses.
  { from: /^src\/(?!work\/webhooks\/outgoing\.ts)/, never: /^undici$/ },
  {
    from: /^src\/backup\//,
    never: /^src\/(records|lists|fields|resources|configuration|accounts|cli)\//,
  },
  { from: /^src\/(?!backup\/|cli\/|serve\.ts)/, never: /^src\/backup\// },
  {
    from: /^src\/http\/openapi\//,
    never: /^src\/(db|http\/(?!openapi\/))|^node:(?!timers)/,
  },
  { from: /^src\/(?!http\/|cli\/)/, never: /^src\/http\/openapi\// },
  { from: /^src\/(?!cli\/|serve\.ts|main\.ts)/, never: /^src\/cli\// },
  { from: /^src\/(?!mcp\/|http\/|cli\/)/, never: /^src\/mcp\// },
  { from: /^src\/(?!mcp\/)/, never: /^@modelcontextprotocol\// },
  // The tools of agents reach the service by its routes.
  { from: /^src\/mcp\//, never: /^src\/(db|lists|history|work|configuration)\// },
  // Of the client the service may import only the grammar of filters and sorts.
  { from: /^src\//, never: /^client\/src\/(?!filter\.ts)/ },
  {
    from: /^src\/lists\/parameters\.ts$/,
    never: /^src\/(records|lists\/(?!parameters)|db|fields\/(catalog|kinds))/,
  },
  { from: /^src\/lists\/where\.ts$/, never: /^client|^src\/(lists\/query|records|db)/ },
  {
    from: /^src\/configuration\/(validation|bounds|field|new-field|limits|form|option)\.ts$/,
    never: /^src\/(db|accounts|http)\/|^src\/records\/store/,
  },
  {
    from: /^src\/(fields|resources)\//,
    never: /^(node:fs|node:net|postgres|pg|@electric-sql\/)|^src\/(db|accounts)\//,
  },
  { from: /^src\/files\//, never: /^src\/(?!files\/|waiting\/|fields\/(decimal|iso8601)|[\w-]+\.ts$)/ },
  // Where metrics are not wanted, their library is not loaded.
  { from: /^src\/(?!metrics\/)/, never: /^prom-client$/ },
  { from: /^src\/metrics\//, never: /^src\/(?!metrics\/|diagnostics\.ts)/ },
  // The same with traces. Others import their types only.
  { from: /^src\/(?!tracing\/)/, never: /^@opentelemetry\// },
  {
    from: /^src\/tracing\//,
    never:
      /^src\/(?!tracing\/|(trace-settings|mergeable-write)\.ts|waiting\/timeout|db\/(open|transaction)\.ts)/,
  },
  { from: /^src\/(?!db\/)/, never: /^(postgres|pg|@electric-sql\/)/ },
  // Everything may import it, so it imports nothing.
  { from: /^src\/waiting\//, never: /^(?!node:)(?!src\/(waiting\/|(json|errors|log|sql|diagnostics)\.ts$))/ },
  { from: /^src\/(?!fields\/resource)/, never: /\/index\.ts$/ },
]

test('no file imports what its folder must not know', () => {
  const files = sources('src/**/*.ts')
  assert.ok(files.length > 50)
  const broken = files.flatMap(file =>
    rules
      .filter(rule => rule.from.test(file.path))
      .flatMap(rule =>
        importsOf(file)
          .filter(name => rule.never.test(name))
          .map(name => `${file.path} imports ${name}`),
      ),
  )
  assert.deepEqual(broken, [])
})

test('no folder imports, over others, one that imports it', () => {
  const folderOf = (path: string) => /^src\/([\w-]+)\//.exec(path)?.[1]
  const imported = new Map<string, Set<string>>()
  for (const file of sources('src/**/*.ts')) {
    const from = folderOf(file.path)
    for (const to of importsOf(file).map(folderOf))
      if (from && to && to !== from) imported.set(from, (imported.get(from) ?? new Set()).add(to))
  }
  assert.ok(imported.size > 8)
  const reachedFrom = (start: string) => {
    const reached = new Set<string>()
    const follow = (folder: string) => {
      for (const next of imported.get(folder) ?? [])
        if (!reached.has(next)) {
          reached.add(next)
          follow(next)
        }
    }
    follow(start)
    return reached
  }
  assert.deepEqual(
    [...imported.keys()].filter(folder => reachedFrom(folder).has(folder)),
    [],
  )
})

test('no switch on a field type outside the kinds', () => {
  // Definitions of fields name their type; nothing else may.
  const types = new RegExp(`(?<![tT]ype: |\\bfield\\([^()]*)'(${Object.keys(kinds).join('|')})'`)
  const found = sources('src/**/*.ts').filter(
    file => !/^src\/fields\/kinds/.test(file.path) && types.test(file.text),
  )
  assert.deepEqual(
    found.map(file => file.path),
    [],
  )
})

/** Words that a folder's files must not contain. */
const words: readonly { readonly from: RegExp; readonly never: RegExp; readonly what: string }[] = [
  {
    from: /^src\/http\//,
    never: /\b(SELECT .* FROM|INSERT INTO|UPDATE \S+ SET|DELETE FROM)\b|::(text|bigint|jsonb?)\b/,
    what: 'SQL',
  },
  // The start shows how to try the service.
  {
    from: /^src\/(?!http\/|welcome\.ts)/,
    never: /\/rest\/api|\bmove_to\b/,
    what: 'a URL or a parameter of one',
  },
  { from: /^src\/db\//, never: /_fkey|_pkey/, what: 'a constraint of the schema' },
  // An amount has a currency and is compared by its rate: kinds do know that one.
  // A resource says what every record has, and a record has users; a visibility is called after territories.
  {
    from: /^src\/fields\/(?!(define|resource|catalog)\.ts)/,
    never: resourceBut('currency'),
    what: 'a resource',
  },
  // The author of a write is a user.
  { from: /^src\/records\//, never: resourceBut('user'), what: 'a resource' },
  { from: /^src\/(lists|db|backup)\//, never: resourceBut(), what: 'a resource' },
  // Caches of a catalog use memoize.ts only; the wiring caches connections, which are no catalog.
  { from: /^src\/(?!waiting\/memoize\.ts|app\.ts)/, never: /new WeakMap/, what: 'a cache of its own' },
]

/** The name of a resource in SQL or as a text, but not as a member of an object, a list or a switch. */
function resourceBut(known?: string): RegExp {
  const names = resources.map(({ name }) => name).filter(name => name !== known)
  return new RegExp(
    `\\b(FROM|JOIN|INTO|UPDATE) "?(${names.join('|')})\\b|(?<!\\[|case )'(${names.join('|')})'`,
  )
}

test('no file says what its folder must not know', () => {
  const said = sources('src/**/*.ts').flatMap(file =>
    words
      .filter(({ from, never }) => from.test(file.path) && never.test(file.text))
      .map(({ what, never }) => `${file.path}: ${what} (${never.exec(file.text)![0]})`),
  )
  assert.deepEqual(said, [])
})
