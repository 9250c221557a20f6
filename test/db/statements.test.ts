/** `npm run sql` prints the service's statements. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const run = (...args: string[]) =>
  spawnSync(process.execPath, ['scripts/sql.ts', ...args], { encoding: 'utf8' })

test('without an argument it names the operations; one that is not there is refused', () => {
  const names = run().stdout.trim().split('\n')
  for (const name of ['deal.create', 'deal.list', 'deal.aggregate', 'product.update', 'currency.get'])
    assert.ok(names.includes(name), name)
  assert.ok(!names.includes('currency.create'))
  const { status, stderr } = run('deal.unknown')
  assert.equal(status, 2)
  assert.match(stderr, /no operation deal\.unknown.*deal\.create/)
})

test('every resource has its operations, a webhook and a view, too', () => {
  for (const name of ['webhook.get', 'view.update', 'currency.get']) {
    const { stdout, stderr, status } = run(name)
    assert.equal(status, 0, stderr)
    assert.match(stdout, new RegExp(`^PREPARE ${name.replace('.', '_')}_1 AS`))
  }
})

test('an operation is printed as psql takes it, with the values it was asked with', () => {
  const { stdout, status } = run('deal.list', "filter=title:like(it's)&sort=title:asc")
  assert.equal(status, 0)
  assert.match(stdout, /^PREPARE deal_list_1 AS\nSELECT .*\n[\s\S]* LIKE fold\(\$\d+::text\)[\s\S]*;\n/)
  assert.match(stdout, /EXPLAIN EXECUTE deal_list_1 \('1', '%it''s%'\);/)
})

test('a list is printed with the look-up of its names, and of a past day with the events since', () => {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const { stdout, stderr, status } = run('deal.list', `filter=company:eq(Dunmore Foods)&as_of=${day}`)
  assert.equal(status, 0, stderr)
  const [names, moment, page] = stdout.split('PREPARE deal_list_').slice(1)
  assert.match(names!, /AS tier[\s\S]*"dunmore foods"/)
  assert.match(moment!, /AS is_future/)
  assert.match(page!, /^3 AS\nWITH past AS[\s\S]*FROM event e[\s\S]*r\."company" = \$\d+::bigint/)
})
