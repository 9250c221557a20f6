/**
 * The size of the web UI as it is built (web/dist): what a browser loads before the first page and for each
 * further one (docs/decisions/web.md, D132). Sizes are those of gzip, in kB of 1000 bytes.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { webDirectory } from '../../src/http/web.ts'

const assets = join(webDirectory, 'assets')
const files = readdirSync(assets)
const code = files.filter(name => name.endsWith('.js'))
const size = (names: Iterable<string>) =>
  [...names].reduce((sum, name) => sum + readFileSync(join(assets, `${name}.gz`)).length, 0) / 1000

const textOf = (name: string) => readFileSync(join(assets, name), 'utf8')

/** The file, and all that it imports at once, but for those that are loaded already. */
function loadedWith(file: string, loaded: ReadonlySet<string> = new Set()): Set<string> {
  const all = new Set<string>()
  const add = (name: string) => {
    if (all.has(name) || loaded.has(name)) return
    all.add(name)
    for (const [, imported] of textOf(name).matchAll(/(?:from|import)\s*["'`]\.\/([^"'`]+\.js)["'`]/g))
      add(imported!)
  }
  add(file)
  return all
}

const [, entry] = /<script type="module"[^>]* src="\/assets\/([^"]+)"/.exec(
  readFileSync(join(webDirectory, 'index.html'), 'utf8'),
)!
const first = loadedWith(entry!)

test('the first page needs at most 190 kB of code and 15 kB of styles', () => {
  assert.ok(size(first) <= 190, `${size(first)} kB of code`)
  const styles = files.filter(name => name.endsWith('.css'))
  assert.ok(size(styles) <= 15, `${size(styles)} kB of styles`)
})

test('forms add 70 kB once, each further page at most 55 kB; all code is at most 480 kB', () => {
  const [kinds] = code.filter(name => /^kinds-/.test(name) && /\bDATE_TIME\b/.test(textOf(name)))
  const forms = loadedWith(kinds!, first)
  assert.ok(size(forms) <= 70, `${size(forms)} kB`)
  const known = new Set([...first, ...forms])
  const large = code
    .filter(name => !known.has(name))
    .map(name => `${name} ${size(loadedWith(name, known))} kB`)
    .filter(text => Number(text.split(' ')[1]) > 55)
  assert.deepEqual(large, [])
  assert.ok(size(code) <= 480, `${size(code)} kB`)
})

test('what is compressed is the file beside it', () => {
  const kept = { br: brotliDecompressSync, gz: gunzipSync }
  for (const name of code)
    for (const [ending, read] of Object.entries(kept)) {
      const text = read(readFileSync(join(assets, `${name}.${ending}`)))
      assert.ok(text.equals(readFileSync(join(assets, name))), `${name}.${ending}`)
    }
})
