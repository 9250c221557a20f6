/** `dealwright import` (D80): a file becomes records, in a data directory that nobody has open. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'dealwright-import-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const dealwright = (...args: string[]) =>
  run(process.execPath, ['bin/dealwright.js', ...args, '--json'], {
    env: { ...process.env, DATA_DIR: join(folder, 'data'), DATABASE_URL: '' },
  }).then(
    ({ stdout }) => ({ code: 0, said: JSON.parse(stdout) }),
    error => ({ code: error.code as number, said: JSON.parse(error.stdout || '{}') }),
  )

test('tries a file, imports it by a map, and writes the refused rows', async () => {
  await dealwright('migrate')
  await dealwright(
    'account',
    'create',
    '--name',
    'Shop',
    '--owner-name',
    'Ann',
    '--owner-email',
    'ann@example.com',
  )
  const file = join(folder, 'products.csv')
  writeFileSync(file, 'Item,No,Stock\nLadder,L1,3\nSaw,S1,many\nNail,N1,500\n')
  const map = join(folder, 'map.json')
  writeFileSync(map, JSON.stringify({ Item: 'name', No: 'product_code', Stock: 'quantity_in_stock' }))
  const given = ['import', file, '--resource', 'product', '--user', 'ann@example.com', '--map', map]
  const tried = await dealwright(...given, '--dry-run')
  assert.deepEqual([tried.code, tried.said.created, tried.said.refused], [1, 2, 1], JSON.stringify(tried))
  const errors = join(folder, 'errors.csv')
  const done = await dealwright(...given, '--errors', errors)
  assert.deepEqual([done.code, done.said.created, done.said.refused], [1, 2, 1], JSON.stringify(done))
  assert.match(readFileSync(errors, 'utf8'), /^\ufeffItem,No,Stock,line,problems\r\nSaw,S1,many,3,/)
  // What is in the place of the file is found before anything is imported.
  const again = await dealwright(...given, '--errors', errors)
  assert.deepEqual([again.code, again.said.created], [1, undefined], JSON.stringify(again))
  const exported = join(folder, 'products.jsonl')
  await dealwright('export', '--resource', 'product', '-o', exported)
  assert.equal(readFileSync(exported, 'utf8').trim().split('\n').length, 2)
  // A map may be of any of the members of a plan.
  writeFileSync(map, JSON.stringify({ formats: { decimal: ',' } }))
  const formats = await dealwright(...given, '--dry-run')
  assert.equal(formats.said.rows, 3, JSON.stringify(formats))
  // What ends a job is told to programs too.
  const scripted = ['--email', 'script@example.com', '--name', 'Script', '--role', 'Read only']
  await dealwright('user', 'invite', ...scripted)
  const barred = await dealwright(...given.slice(0, 4), '--user', 'script@example.com')
  assert.deepEqual([barred.code, barred.said.state], [1, 'failed'])
  assert.match(barred.said.error, /product:write/)
  const other = await dealwright(...given.slice(0, 4), '--user', 'nobody@example.com')
  assert.notEqual(other.code, 0)
})
