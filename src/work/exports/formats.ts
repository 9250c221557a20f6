/** The formats of exports (D81), each with its producer. */
import { csv } from './csv.ts'
import { jsonLines } from './json-lines.ts'
import type { FormatName } from './query.ts'
import type { Source } from './source.ts'
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
