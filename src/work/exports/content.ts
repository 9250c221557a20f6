/** The bytes of an export, from the batches of its records; and the check before there are any. */
import { parameterProblem, Refusal } from '../../errors.ts'
import { countSql } from '../../lists/total.ts'
import type { Reader } from '../../records/store.ts'
import { callerParamsOf } from '../../rights/visibility.ts'
import { ask, sql } from '../../sql.ts'
import type { ExportContext } from './export.ts'
import { formatOf } from './formats.ts'

/** Throws `malformed_query` if there are more records than the format can hold. */
export async function refuseTooMany(reader: Reader, { caller, request }: ExportContext): Promise<void> {
  const { recordsMax } = formatOf[request.format]
  if (recordsMax === undefined) return
  const statement = sql`SELECT ${countSql(callerParamsOf(caller), request.list, recordsMax + 1)} AS count`
  const [row] = await ask(reader, statement)
  if (Number(row!.count) <= recordsMax) return
  const message = `A workbook holds at most ${recordsMax} records: take format=csv, or filter them.`
  throw new Refusal('malformed_query', message, [parameterProblem('format', 'too_many', message)])
}

/** The bytes in chunks of about a batch. */
export function contentOf(
  { caller, request, onRecords }: ExportContext,
  reader: Reader,
  batches: AsyncIterable<readonly Uint8Array[]>,
): AsyncGenerator<Uint8Array> {
  const counted = onRecords ? toldOf(batches, onRecords) : batches
  return formatOf[request.format].content({ request, caller, reader, batches: counted })
}

/** Passes the batches through; reports the number of records before each is used. */
async function* toldOf(
  batches: AsyncIterable<readonly Uint8Array[]>,
  onRecords: (count: number) => void,
): AsyncGenerator<readonly Uint8Array[]> {
  let count = 0
  for await (const batch of batches) {
    count += batch.length
    onRecords(count)
    yield batch
  }
}
