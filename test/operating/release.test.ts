/**
 * A release (D153): made in a copy of the checkout, installed without a registry into an empty folder, and
 * used on each Node.js that it is for.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { argon2id, byThread } from '../../src/accounts/sign-in/argon2.ts'
import { password, signIn, walkThrough } from '../support/journeys.ts'
import { runService, settingsOnly, temporaryFolder } from '../support/running-service.ts'

const folder = temporaryFolder('release')
const version = '900.0.0-rc.1'
const checkout = copiedCheckout()
const releases = join(checkout, 'dist/release')
const made = release(version)
const project = join(folder, 'project')
mkdirSync(project)
writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
const installed = join(project, 'node_modules/dealwright')
const service = join(releases, `dealwright-${version}.tgz`)
npm('install', service, join(releases, `dealwright-client-${version}.tgz`))

/** The checkout with its changes, as a repository of its own. */
function copiedCheckout(): string {
  const copy = join(folder, 'checkout')
  const made = /^(node_modules|\.git|web\/dist|client\/dist|docs\/ui|dist\/(?!cluster))(\/|$)/
  for (const entry of readdirSync('.'))
    cpSync(entry, join(copy, entry), {
      recursive: true,
      filter: path => !made.test(path.replaceAll('\\', '/')),
    })
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
  // Right after a release there is no change to release.
  const changelog = join(copy, 'CHANGELOG.md')
  const text = readFileSync(changelog, 'utf8')
  writeFileSync(changelog, text.replace('## Unreleased\n', '## Unreleased\n\n- A change.\n'))
  git(copy, 'init', '--quiet')
  git(copy, 'add', '--all')
  git(copy, 'commit', '--quiet', '--message', 'A copy')
  return copy
}

function git(cwd: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
  return execFileSync('git', [...who, ...args], { cwd, encoding: 'utf8' })
}

function release(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const people = ['AUTHOR', 'COMMITTER'].flatMap(who => [
    [`GIT_${who}_NAME`, 'Test'],
    [`GIT_${who}_EMAIL`, 'test@example.com'],
  ])
  return spawnSync(process.execPath, ['scripts/release/release.ts', ...args], {
    cwd: checkout,
    env: settingsOnly(Object.fromEntries(people)),
    encoding: 'utf8',
  })
}

function npm(...args: readonly string[]): void {
  const options = { npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }
  execFileSync('npm', args, { cwd: project, env: settingsOnly(options), stdio: 'pipe' })
}

test('a release is a commit with a tag, two packages, a list of what is in them, and checksums', () => {
  assert.equal(made.status, 0, made.stderr)
  assert.equal(git(checkout, 'describe', '--exact-match').trim(), `v${version}`)
  assert.equal(git(checkout, 'status', '--porcelain'), '')
  for (const file of ['package.json', 'client/package.json', 'package-lock.json'])
    assert.equal(JSON.parse(readFileSync(join(checkout, file), 'utf8')).version, version, file)
  const chart = readFileSync(join(checkout, 'deploy/helm/dealwright/Chart.yaml'), 'utf8')
  for (const line of [`version: ${version}`, `appVersion: "${version}"`])
    assert.ok(chart.split('\n').includes(line), line)
  const changelog = readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8')
  assert.match(changelog, new RegExp(`^## Unreleased\n\n## ${version.replaceAll('.', '\\.')} · \\d{4}-`, 'm'))
  const sums = readFileSync(join(releases, 'SHA256SUMS'), 'utf8').trim().split('\n')
  const files = [
    `dealwright-${version}.cdx.json`,
    `dealwright-${version}.tgz`,
    `dealwright-client-${version}.tgz`,
  ]
  assert.deepEqual(
    sums.map(line => line.replace(/^[0-9a-f]{64} {2}/, '')),
    files,
  )
  const { components, metadata } = JSON.parse(readFileSync(join(releases, files[0]!), 'utf8'))
  const names = components.map(({ name }: { name: string }) => name)
  assert.equal(metadata.component.name, 'dealwright')
  assert.ok(names.includes('fastify') && !names.includes('vite'), names.join())
})

test('a version that can not be released now is refused, with the reason', () => {
  const reasons = [
    [['soon'], /Give the version as in/],
    [[version], /900\.0\.0-rc\.1 does not come after 900\.0\.0-rc\.1/],
    [['900.0.0'], /CHANGELOG\.md has nothing under "Unreleased"/],
  ] as const
  for (const [args, reason] of reasons) {
    const { status, stderr } = release(...args)
    assert.equal(status, 1)
    assert.match(stderr, reason)
  }
  writeFileSync(join(checkout, 'README.md'), 'changed')
  assert.match(release('900.0.0').stderr, /changes that are not committed/)
})

test('it is installed without a registry, in at most 60 MB, and has no TypeScript', () => {
  const files = globSync('**/*', { cwd: installed, withFileTypes: true }).filter(entry => entry.isFile())
  const bytes = files
    .map(entry => statSync(join(entry.parentPath, entry.name)).size)
    .reduce((sum, size) => sum + size, 0)
  assert.ok(bytes > 20_000_000 && bytes < 60_000_000, `${bytes}`)
  const sources = files.filter(({ name }) => /\.[cm]?tsx?$/.test(name))
  assert.deepEqual(
    sources.map(({ name }) => name),
    [],
  )
})

test('it brings every package of its manifest, the UI, the documents, deploy/ and the first databases', () => {
  assert.deepEqual(readdirSync(installed).sort(), [
    ...['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'bin'],
    ...['client', 'deploy', 'dist', 'docs', 'node_modules', 'package.json', 'src', 'web'],
  ])
  const { dependencies, engines, scripts, devDependencies } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  )
  for (const name of Object.keys(dependencies))
    assert.ok(existsSync(join(installed, 'node_modules', name, 'package.json')), name)
  assert.deepEqual([engines, scripts, devDependencies], [{ node: '>=20.19' }, undefined, undefined])
  for (const file of ['web/dist/index.html', 'docs/operating.md', 'deploy/alerts.yml', 'LICENSE'])
    assert.ok(existsSync(join(installed, file)), file)
  for (const file of ['dist/cluster-*.tar.gz', 'dist/database-*.tar.gz'])
    assert.equal(globSync(file, { cwd: installed }).length, 1, file)
})

test('the client of the same release is installed beside it', () => {
  const program = "import { Dealwright } from '@dealwright/client'; console.log(typeof Dealwright)"
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: project,
    encoding: 'utf8',
  })
  assert.equal(stdout, 'function\n')
})

test('a hash of a password is the same from Node.js and from WebAssembly', async () => {
  const parameters = { memory: 1024, passes: 2, parallelism: 1, tagLength: 32 }
  for (const message of ['x', 'a phrase — ünïcode 😀', 'x'.repeat(1000)]) {
    const input = { ...parameters, message, nonce: Buffer.from('0123456789abcdef') }
    assert.deepEqual(await byThread(input), await argon2id(input), message)
  }
  const empty = { ...parameters, message: '', nonce: Buffer.from('0123456789abcdef') }
  assert.equal((await byThread(empty)).length, 32)
})

/** Where .ci/run puts the older ones (scripts/release/nodes.ts). */
const nodeOf = (line: string) => `node_modules/.cache/nodes/${line}/node_modules/node/bin/node`
const nodes: readonly (readonly [string, string])[] = [
  ...['20.19.0', '22'].map(line => [line, nodeOf(line)] as const),
  ['24', process.execPath],
]
const kept = join(folder, 'kept')

for (const [line, file] of nodes) {
  const isMissing = !existsSync(file) && process.env.CI === undefined
  const skip = isMissing && `no Node.js ${line}: npm run nodes`
  test(`the main journeys on Node.js ${line}, and a sign-in on the data of the one before`, {
    skip,
  }, async () => {
    const isFirst = !existsSync(kept)
    const args = [join(installed, 'bin/dealwright.js')]
    const running = await runService({ DATA_DIR: kept }, { file: resolve(file), args, cwd: project })
    const user = { email: 'owner@example.com', password }
    if (!isFirst) assert.equal((await signIn(running, user)).status, 201)
    await walkThrough(running)
    assert.doesNotMatch(running.log(), /Warning|Error/i)
    await running.end()
  })
}

test('npx starts it from the file alone, with a board of sample data', async () => {
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  cpSync(service, join(empty, 'dealwright.tgz'))
  const program = { file: 'npx', args: ['--yes', '--offline', './dealwright.tgz'], cwd: empty }
  const env = { DATA_DIR: join(empty, 'data'), npm_config_cache: join(folder, 'cache') }
  const running = await runService(env, program)
  const board = await running.get('/rest/api/v1/deal/view/board')
  assert.ok((await board.text()).length > 1000)
  await running.end()
})

test('the language and Node.js 20 lack only what the release adds', () => {
  const configuration = {
    extends: resolve('tsconfig.json'),
    compilerOptions: {
      ...{ lib: ['es2023'], types: ['node20'], typeRoots: [resolve('node_modules/@types')] },
      ...{ incremental: false, tsBuildInfoFile: null },
    },
    ...{ files: [resolve('src/main.ts')], include: [] },
  }
  const file = join(folder, 'tsconfig.json')
  writeFileSync(file, JSON.stringify(configuration))
  const { stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', file], {
    encoding: 'utf8',
  })
  const missing = [...stdout.matchAll(/TS(?:2305|2339|2550|2551): \D*?'(\w+)'/g)].map(([, name]) => name!)
  // Node.js 20 has two that the language got in 2024.
  const there = ['isWellFormed', 'toWellFormed']
  const added = readFileSync('src/older-node.ts', 'utf8').matchAll(/^add\([\w.]+, '(\w+)'/gm)
  const known = [...added].map(([, name]) => name!)
  assert.deepEqual([...new Set(missing)].sort(), [...known, ...there].sort())
})

test('a Node.js that is too old is told so in one line', () => {
  const bin = readFileSync(join(installed, 'bin/dealwright.js'), 'utf8')
  const old = bin.replace('process.versions.node.split', "'18.20.4'.split")
  const file = join(installed, 'bin/old.js')
  writeFileSync(file, old)
  const { status, stderr } = spawnSync(process.execPath, [file, 'check'], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /^Dealwright needs Node\.js 20\.19 or newer; this is [\d.]+\.\n$/)
})
