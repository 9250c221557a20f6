/**
 * `npm run package [-- --to FOLDER]`: makes the two packages of a release in dist/release (D153). The service
 * is compiled to JavaScript, since Node.js takes no TypeScript inside node_modules; its files keep their
 * places, so that what they read beside them is found alike.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readyCluster } from '../../src/db/embedded/ready-cluster.ts'
import { makeReadyDatabase, readyDatabase } from '../../src/db/ready-database.ts'

type Manifest = { readonly [member: string]: unknown } & {
  readonly version: string
  readonly dependencies: { readonly [name: string]: string }
}

const { values } = parseArgs({ options: { to: { type: 'string', default: 'dist/release' } } })
const target = resolve(values.to)
const stage = join(target, 'package')
const manifest: Manifest = JSON.parse(readFileSync('package.json', 'utf8'))

/** Files of packages that nothing loads: types, maps, sources, tests, and parts of the embedded engine. */
const unused: readonly RegExp[] = [
  /\.(map|ts|mts|cts|flow|markdown)$|(?<!LICENSE)(?<!license)\.md$/,
  /^(@[^/]+\/)?[^/]+\/(\.[^/]+|tests?|__tests__|docs?|examples?|bench|benchmarks?)(\/|$)/,
  /^@electric-sql\/pglite\/(dist\/.*\.cjs|dist\/(?!pg_trgm\.)[\w-]+\.tar\.gz|dist\/(node-postgres|live|worker)\/)/,
  /^@opentelemetry\/[^/]+\/(build\/(esm|esnext)\/|dist\/(experimental|index-incubating|.*\.mjs$))/,
  /^bintrees\/dist\/|^hash-wasm\/dist\/(?!index\.(umd|esm)\.js)|^hash-wasm\/(lib|src)\//,
]

if (!existsSync('web/dist/index.html'))
  throw new Error('The web UI is not there: "npm run build" makes it first.')
await makeReadyDatabase()
rmSync(stage, { recursive: true, force: true })
mkdirSync(stage, { recursive: true })
compile()
copy()
bringPackages()
writeFileSync(join(stage, 'package.json'), `${JSON.stringify(published(), null, 2)}\n`)
for (const [folder, name] of [
  [stage, 'dealwright'],
  ['client', 'dealwright-client'],
] as const) {
  const [packed] = JSON.parse(npm('pack', resolve(folder), '--pack-destination', target, '--json'))
  const file = join(target, `${name}-${manifest.version}.tgz`)
  console.log(`${file} (${Math.round(statSync(file).size / 1024)} kB, ${packed.entryCount} files)`)
}

/** TypeScript becomes JavaScript in the same places; JSON becomes a module, which no Node.js warns of. */
function compile(): void {
  const compilerOptions = {
    ...{ target: 'es2023', lib: ['esnext'], module: 'nodenext', types: ['node'], rootDir: resolve('.') },
    ...{ outDir: stage, noEmit: false, incremental: false, tsBuildInfoFile: null, declaration: false },
    ...{ rewriteRelativeImportExtensions: true, typeRoots: [resolve('node_modules/@types')] },
  }
  const files = [resolve('src/main.ts'), ...threads()]
  const project = { extends: resolve('tsconfig.json'), compilerOptions, files, include: [] }
  const config = join(target, 'tsconfig.json')
  writeFileSync(config, JSON.stringify(project))
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', config], { stdio: 'inherit' })
  rmSync(config)
  for (const name of globSync('**/*.json', { cwd: stage })) {
    const file = join(stage, name)
    writeFileSync(`${file}.js`, `export default ${readFileSync(file, 'utf8')}`)
    rmSync(file)
  }
  for (const name of globSync('**/*.js', { cwd: stage })) {
    const file = join(stage, name)
    const text = readFileSync(file, 'utf8')
    const own = text
      .replace(/ from '(\.[^']+\.json)' with \{ type: 'json' \}/g, " from '$1.js'")
      .replace(/new URL\('(\.[^']+)\.ts', import\.meta\.url\)/g, "new URL('$1.js', import.meta.url)")
    if (own !== text) writeFileSync(file, own)
  }
}

/** The files of threads, which nothing imports. */
function threads(): string[] {
  return globSync('src/**/*.ts').flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g)].map(
      ([, name]) => resolve(dirname(file), name!),
    ),
  )
}

/** Everything that the service reads while it runs, and what people read of it. */
function copy(): void {
  const besides = globSync('src/**/*.{sql,css}')
  const scripts = globSync('src/**/*.js').filter(file => !existsSync(join(stage, file)))
  const documents = globSync(['docs/**/*.md', '*.md', 'LICENSE', 'bin/*.js', 'deploy/**/*'])
  const built = ['web/dist', ...[readyCluster, readyDatabase()].map(file => relative('.', file))]
  for (const file of [...besides, ...scripts, ...documents, ...built]) {
    if (!existsSync(file) || (statSync(file).isDirectory() && file.startsWith('deploy'))) continue
    const place = join(stage, file)
    mkdirSync(dirname(place), { recursive: true })
    cpSync(file, place, { recursive: true })
  }
}

/** The manifest that users of the package get. */
function published(): object {
  const { name, version, description, license, type, bin, dependencies } = manifest
  return {
    ...{ name, version, description, license, type, bin },
    engines: { node: '>=20.19' },
    files: readdirSync(stage).filter(entry => entry !== 'package.json'),
    dependencies,
    bundleDependencies: true,
  }
}

/**
 * Brings along every package that the service needs, in the locked versions: an install needs no registry and
 * has the bytes that were tested, without what nothing loads.
 */
function bringPackages(): void {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  )
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    // Packages inside others are copied with them.
    if (dev || !/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path)) continue
    cpSync(path, join(stage, path), {
      recursive: true,
      filter: file => {
        const name = relative('node_modules', file).replaceAll('\\', '/')
        const own = name.slice(name.lastIndexOf('/node_modules/') + 1).replace(/^node_modules\//, '')
        return !unused.some(form => form.test(own))
      },
    })
  }
}

function npm(...args: readonly string[]): string {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))
  return execFileSync('npm', args, { env: Object.fromEntries(own), encoding: 'utf8' })
}
