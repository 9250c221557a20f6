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

test('an operation is printed as psql takes it, with the values it was asked with', () => {
  const { stdout, status } = run('deal.list', "filter=title:like(it's)&sort=title:asc")
  assert.equal(status, 0)
  assert.match(stdout, /^PREPARE deal_list_1 AS\nSELECT .*\n[\s\S]* LIKE fold\(\$\d+::text\)[\s\S]*;\n/)
  assert.match(stdout, /EXPLAIN EXECUTE deal_list_1 \('1', '%it''s%'\);/)
})
