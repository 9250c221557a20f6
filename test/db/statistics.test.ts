/** The statistics of fast-growing tables, on either engine. */
import assert from 'node:assert/strict'
import { onEachEngine } from '../support/each-engine.ts'
import { eventually } from '../support/eventually.ts'

onEachEngine(
  'a table that has more than doubled is analyzed, so that statements are planned anew',
  async db => {
    await db.query('CREATE TABLE grown (id bigint PRIMARY KEY, word text)')
    await db.query('ANALYZE grown')
    const fill = (from: number, to: number) =>
      db.query(`INSERT INTO grown SELECT n, 'word ' || n FROM generate_series(${from}, ${to}) n`)
    const known = async () =>
      Number((await db.query(`SELECT reltuples FROM pg_class WHERE relname = 'grown'`))[0]!.reltuples)
    await fill(1, 300)
    assert.equal(await known(), 0)
    await fill(301, 5000)
    await eventually(async () => (await known()) === 5000, 'statistics of 5000 rows')
  },
)
