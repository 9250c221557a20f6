/**
 * Reads and converts large hostile files in a process of its own, and prints the peak of live memory above
 * the start: `node --expose-gc test/reliability/hostile-files.ts`. Garbage is not counted, because it depends
 * on the machine and on chance.
 */
import { readTable } from '../../src/files/read.ts'
import { converter } from '../../src/work/imports/convert.ts'
import { guessColumns } from '../../src/work/imports/guess.ts'
import { catalog } from '../support/import-catalog.ts'

const megabyte = 1_048_576

/** A file that is never whole in memory. */
export async function* repeated(
  begin: string,
  middle: string,
  times: number,
  end = '',
  atOnce = 1000,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(begin)
  const many = Buffer.from(middle.repeat(atOnce))
  for (let count = 0; count < times / atOnce; count++) yield many
  yield Buffer.from(end)
}

const head = 'title,description\n'
const line = '"Deal, ""A""",12.50,31/12/2026\n'

const files = () => [
  repeated(head, 'x'.repeat(100), 500_000, '\nok,1\n'),
  repeated(`${head}"`, 'x'.repeat(100), 500_000, '\nok,1\n'),
  repeated(`${head}a,"`, '""'.repeat(50), 500_000, '\nok,1\n'),
  repeated(head, ',"a"'.repeat(25), 500_000, '\nok,1\n'),
  repeated(head, `${'x'.repeat(400_000)},y\n`, 300, '', 1),
  repeated(head, '"a""\n', 400_000),
  repeated('title,deal_value.value,expected_close_date\n', line, 600_000),
]

/** Bytes of live memory. */
function held(): number {
  globalThis.gc!()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function readAll(): Promise<void> {
  const idle = held()
  let most = 0
  async function* watched(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let since = 0
    for await (const piece of file) {
      yield piece
      since += piece.length
      if (since < 2 * megabyte) continue
      since = 0
      most = Math.max(most, held() - idle)
    }
  }
  let count = 0
  for (const file of files()) {
    const table = await readTable(watched(file), { format: 'csv' })
    const schema = catalog.resources.get('deal')!
    const { mapping } = await guessColumns(catalog, schema, table.columns(), [])
    const convert = converter(catalog, schema, { mapping, values: {}, formats: {} }, table.columns())
    for await (const row of table.rows) {
      count++
      if (row.problem === undefined) convert(row.cells)
    }
  }
  console.log(JSON.stringify({ rows: count, megabytes: Math.round(most / megabyte) }))
}

if (import.meta.main) await readAll()
