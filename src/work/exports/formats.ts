/** The formats of exports (D81), each with its producer. */
import { lineOf } from '../../files/write-csv.ts'
import { columnsOf } from './columns.ts'
import { jsonLines } from './json-lines.ts'
import type { FormatName } from './query.ts'
import { renderRecords, type Source } from './source.ts'
import { workbook, workbookRecordsMax } from './workbook.ts'

export type Format = {
  readonly mediaType: string
  /** maximum number of records; absent: any number */
  readonly recordsMax?: number
  /** Produces the bytes, in chunks of about a batch. */
  content(source: Source): AsyncGenerator<Uint8Array>
}

export const formatOf: { readonly [name in FormatName]: Format } = {
  csv: { mediaType: 'text/csv; charset=utf-8', content: csv },
  jsonl: { mediaType: 'application/jsonl; charset=utf-8', content: jsonLines },
  xlsx: {
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    recordsMax: workbookRecordsMax,
    content: workbook,
  },
}

/** CSV in UTF-8 with a byte order mark: the header, with internal names, and a line for each record. */
export async function* csv(source: Source): AsyncGenerator<Uint8Array> {
  const { shown, named } = source.request
  const columns = columnsOf(shown, named !== null)
  yield Buffer.from(`\ufeff${lineOf(columns.map(({ name }) => name))}`)
  yield* renderRecords(source, (record, naming) => lineOf(columns.map(({ cell }) => cell(record, naming))))
}
