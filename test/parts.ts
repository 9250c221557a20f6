/**
 * The parts of the suite: which test files run on which engine, and the share of the laws' questions. `npm
 * test` is the part `quick`, `npm run check` has all others (scripts/check.ts). Tests that need an engine of
 * their own, kill or have very many records have folders of their own. test/house/layout.test.ts checks that
 * no file is left out.
 */
import { globSync, readFileSync } from 'node:fs'

export type Part = {
  readonly engine: 'embedded' | 'postgres'
  readonly files: readonly string[]
  /** share of the laws' questions, from 0 to 1 */
  readonly share: number
  /** True if its tests wait so much that there is room for one more process than cores */
  readonly waits?: true
  /** how records are written (D164); default: one by one statement */
  readonly writes?: 'transaction'
  /** True if files compare the embedded engine with a PostgreSQL server: they share one */
  readonly compares?: true
}

/** The folders of `npm test`. */
const first = ['api', 'house', 'laws', 'units', 'units/waiting']
/** The folders that share a process with its engine and its browser (lane.ts). */
const together = [...first, 'web']
/**
 * Files that need only one engine: they use no database, bring their own engines, or test the layers before
 * it: connections, documents, refusals of bodies.
 */
const engineFree = [
  ...['backup', 'commands', 'db', 'house', 'operating', 'units', 'web'].map(folder => `${folder}/`),
  ...[
    'connections',
    'docs',
    'list-limits',
    'openapi',
    'teaching',
    'tools',
    'unseen',
    'web',
    'webhook-docs',
  ].map(name => `api/${name}.`),
  ...['files', 'hostile-files', 'network', 'stop'].map(name => `reliability/${name}.`),
  ...['cli/arguments.', 'cli/mcp.', 'client/generators.', 'client/runtimes.'],
]
/** Whole recipes of CONTRIBUTING.md, which take minutes. */
const recipes = 'test/house/recipes.test.ts'

function filesOf(...folders: readonly string[]): string[] {
  return folders.flatMap(folder => globSync(`test/${folder}/*.test.ts`)).sort()
}

/** Files that have most to do with writes: they hold also if every write is a transaction (D164). */
const writing = [
  ...['batch', 'changing', 'undo'].map(name => `laws/${name}`),
  ...['activities', 'batch', 'deals', 'fields', 'moving-away', 'sessions', 'unique', 'upsert'].map(
    name => `api/${name}`,
  ),
].map(name => `test/${name}.test.ts`)

const others = ['backup', 'cli', 'client', 'db', 'large', 'reliability']

export const parts = {
  quick: {
    engine: 'embedded',
    files: filesOf(...first).filter(file => !isRecipe(file)),
    share: 0.1,
    waits: true,
  },
  laws: { engine: 'embedded', files: filesOf('laws').filter(hasQuestions), share: 1 },
  engines: { engine: 'embedded', files: filesOf(...others), share: 1, waits: true, compares: true },
  // The laws' findings are seldom specific to one engine.
  postgres: {
    engine: 'postgres',
    files: filesOf(...first, ...others).filter(runsOnBoth),
    share: 0.3,
    waits: true,
  },
  transactions: { engine: 'embedded', files: writing, share: 0.1, writes: 'transaction' },
  serverTransactions: { engine: 'postgres', files: writing, share: 0.1, writes: 'transaction' },
  operating: { engine: 'embedded', files: filesOf('operating'), share: 1, waits: true },
  web: { engine: 'embedded', files: filesOf('web'), share: 1, waits: true },
  // In parallel: the commands leave time to the compiler.
  commands: { engine: 'embedded', files: [...filesOf('commands'), recipes], share: 1 },
} satisfies { readonly [name: string]: Part }

/** True if it runs on PostgreSQL, too. */
export function runsOnBoth(file: string): boolean {
  const path = file.replaceAll('\\', '/')
  return !engineFree.some(one => path.includes(`test/${one}`))
}

/** True if it shares its process and its engine with others. */
export function isTogether(file: string): boolean {
  const place = file.replaceAll('\\', '/')
  return together.some(folder => place.includes(`test/${folder}/`)) && !isRecipe(file)
}

/** True if a law asks by its share: the others ask everything in `npm test`. */
function hasQuestions(file: string): boolean {
  return readFileSync(file, 'utf8').includes('/questions.ts')
}

function isRecipe(file: string): boolean {
  return file.replaceAll('\\', '/') === recipes
}
