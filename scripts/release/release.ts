/**
 * `npm run release -- VERSION [--dry-run]`: makes a release in dist/release (D153): the two packages, a list
 * of their contents, and checksums. It writes the version where it stands, commits and tags. `--dry-run` ends
 * before the commit. Nothing is published.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [version = ''] = positionals
const target = 'dist/release'

const before = JSON.parse(readFileSync('package.json', 'utf8')).version as string
const problem = problemOf(version, before)
if (problem) {
  console.error(problem)
  process.exit(1)
}
writeVersion()
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
run('npm', 'run', '--silent', 'build', '--', '--logLevel', 'warn')
run(process.execPath, 'scripts/release/package.ts')
writeFileSync(join(target, `dealwright-${version}.cdx.json`), billOfMaterials())
writeFileSync(join(target, 'SHA256SUMS'), checksums())
if (values['dry-run']) console.log('This was a dry run: nothing is committed or tagged.')
else {
  run('git', 'add', '--all')
  run('git', 'commit', '--quiet', '--message', `Release ${version}`)
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Dealwright ${version}`)
  console.log(`v${version} is tagged. dist/release has what to publish.`)
}

/** Why this version can't be released now; null if it can. */
function problemOf(wanted: string, last: string): string | null {
  if (!/^\d+\.\d+\.\d+(-rc\.\d+)?$/.test(wanted))
    return 'Give the version as in "npm run release -- 1.0.0", or 1.0.0-rc.1 for a candidate.'
  if (compare(wanted, last) <= 0) return `${wanted} does not come after ${last}.`
  if (output('git', 'status', '--porcelain').trim()) return 'There are changes that are not committed.'
  if (output('git', 'tag', '--list', `v${wanted}`).trim()) return `v${wanted} is a tag already.`
  if (!/^## Unreleased\n+(?!## )\S/m.test(readFileSync('CHANGELOG.md', 'utf8')))
    return 'CHANGELOG.md has nothing under "Unreleased".'
  return null
}

/** By semver: a candidate comes before its release. */
function compare(one: string, other: string): number {
  const parts = (text: string) => {
    const [numbers, candidate = 'z'] = text.split('-rc.')
    const last = candidate === 'z' ? Number.POSITIVE_INFINITY : Number(candidate)
    return [...numbers!.split('.').map(Number), last]
  }
  const [left, right] = [parts(one), parts(other)]
  const at = left.findIndex((part, index) => part !== right[index])
  return at < 0 ? 0 : left[at]! - right[at]!
}

/** Writes the version into the manifests, the chart, the lock file, the client's README and the changelog. */
function writeVersion(): void {
  for (const file of ['package.json', 'client/package.json'])
    change(file, text => text.replace(/"version": "[^"]+"/, `"version": "${version}"`))
  change('deploy/helm/dealwright/Chart.yaml', text =>
    text
      .replace(/^version: .+$/m, `version: ${version}`)
      .replace(/^appVersion: .+$/m, `appVersion: "${version}"`),
  )
  // The package itself comes twice, before all others.
  let own = 0
  change('package-lock.json', text =>
    text.replace(/"version": "[^"]+"/g, line => (own++ < 2 ? `"version": "${version}"` : line)),
  )
  change('client/README.md', text =>
    text.replace(/dealwright-client-\d[\w.-]*\.tgz/g, `dealwright-client-${version}.tgz`),
  )
  const day = new Date().toISOString().slice(0, 10)
  change('CHANGELOG.md', text => text.replace('## Unreleased\n', `## Unreleased\n\n## ${version} · ${day}\n`))
}

function change(file: string, by: (text: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const changed = by(text)
  if (changed === text) throw new Error(`${file} has no place for the version.`)
  writeFileSync(file, changed)
}

/** The packages in the release (CycloneDX). npm names the service by the folder of its manifest. */
function billOfMaterials(): string {
  const folder = join(target, 'dealwright')
  mkdirSync(folder)
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(file, join(folder, file))
  const command = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--omit', 'dev']
  const bill = output('npm', '--prefix', folder, ...command)
  rmSync(folder, { recursive: true })
  return bill
}

/** As `sha256sum --check` reads them. */
function checksums(): string {
  return readdirSync(target)
    .filter(name => /\.(tgz|json)$/.test(name))
    .map(name => {
      const hash = createHash('sha256').update(readFileSync(join(target, name)))
      return `${hash.digest('hex')}  ${name}\n`
    })
    .join('')
}

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { stdio: 'inherit' })
}

function output(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
}
