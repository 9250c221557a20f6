/** The import rules of ARCHITECTURE.md. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kinds } from '../../src/fields/kinds.ts'
import { resources } from '../../src/resources/resources.ts'
import { importsOf, sources } from './sources.ts'

/** Files of `from` must import nothing that matches `never`. */
const rules: readonly { readonly from: RegExp; readonly never: RegExp }[] = [
  {
    from: /^src\/(records|list|search|events|fields)\//,
    never: /^src\/(deals|products|api|app|serve|main|cli|resources|accounts|db)\b/,
  },
  {
    from: /^src\/(?!api\/|app\.ts|serve\.ts)/,
    never: /^(fastify|node:https?)$|^src\/(api\/|app\.ts)/,
  },
  // The entry starts the service only on request.
  { from: /^src\/(?!main\.ts)/, never: /^src\/(serve|main)\.ts/ },
  {
    from: /^src\/(?!api\/|app\.ts|local-socket\.ts|db\/server-address\.ts|webhooks\/(address|outgoing)\.ts)/,
    never: /^node:(net|tls)$/,
  },
  // Outgoing requests pass the check of their addresses.
  { from: /^src\/(?!webhooks\/outgoing\.ts)/, never: /^undici$/ },
  {
    from: /^src\/backup\//,
    never: /^src\/(records|list|fields|deals|products|administration|accounts|cli)\//,
  },
  { from: /^src\/(?!backup\/|cli\/|serve\.ts)/, never: /^src\/backup\// },
  { from: /^src\/openapi\//, never: /^src\/(accounts|db|deals|products|api)\/|^node:(?!timers)/ },
  { from: /^src\/(?!api\/|openapi\/|cli\/)/, never: /^src\/openapi\// },
  { from: /^src\/(?!cli\/|serve\.ts|main\.ts)/, never: /^src\/cli\// },
  // Of the client the service may import only the grammar of filters.
  { from: /^src\//, never: /^client\/src\/(?!filter\.ts)/ },
  { from: /^src\/list\/grammar\.ts$/, never: /^src\/(records|list|db|fields\/(catalog|kinds))/ },
  { from: /^src\/list\/sql\.ts$/, never: /^src\/(list\/grammar|list\/query|records|db)/ },
  {
    from: /^src\/administration\/(findings|bounds|field|new-field|limits|form|option)\.ts$/,
    never: /^src\/(db|accounts|api)\/|^src\/records\/store/,
  },
  {
    from: /^src\/(fields|deals|products)\//,
    never: /^(node:fs|node:net|postgres|pg|@electric-sql\/)|^src\/(db|accounts)\//,
  },
  { from: /^src\/(?!db\/)/, never: /^(postgres|pg|@electric-sql\/)/ },
  // Everything may import it, so it imports nothing.
  { from: /^src\/waiting\//, never: /^(?!node:)(?!src\/(waiting\/|(json|errors|log|sql)\.ts$))/ },
  { from: /^src\/(?!records\/resource)/, never: /\/index\.ts$/ },
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

test('no switch on a field type outside the kinds', () => {
  // Definitions of fields name their type; nothing else may.
  const types = new RegExp(`(?<![tT]ype: )'(${Object.keys(kinds).join('|')})'`)
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
    from: /^src\/api\//,
    never: /\b(SELECT .* FROM|INSERT INTO|UPDATE \S+ SET|DELETE FROM)\b|::(text|bigint|jsonb?)\b/,
    what: 'SQL',
  },
  // The start shows how to try the service.
  {
    from: /^src\/(?!api\/|serve\.ts)/,
    never: /\/rest\/api|\bmove_to\b/,
    what: 'a URL or a parameter of one',
  },
  { from: /^src\/db\//, never: /_fkey|_pkey/, what: 'a constraint of the schema' },
  // An amount has a currency and is compared by its rate: kinds do know that one. Samples are data of tests.
  { from: /^src\/fields\/(?!kinds\/samples)/, never: resourceBut('currency'), what: 'a resource' },
  // The author of a write is a user.
  { from: /^src\/records\//, never: resourceBut('user'), what: 'a resource' },
  { from: /^src\/(list|search|db|backup)\//, never: resourceBut(), what: 'a resource' },
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
