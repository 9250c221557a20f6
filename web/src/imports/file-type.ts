/** The format of a file, by the extension of its name. Pure. */

type FileType = { readonly format: 'csv' | 'xlsx' | 'jsonl'; readonly mediaType: string }

const csv = { format: 'csv', mediaType: 'text/csv' } as const
const lines = { format: 'jsonl', mediaType: 'application/x-ndjson' } as const

const types: { readonly [ending: string]: FileType } = {
  csv,
  tsv: csv,
  txt: csv,
  xlsx: {
    format: 'xlsx',
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  },
  jsonl: lines,
  ndjson: lines,
}

/** The `accept` attribute of the file input. */
export const accepted = Object.keys(types)
  .map(ending => `.${ending}`)
  .join()

export function typeOf(name: string): FileType | null {
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(types, ending) ? types[ending]! : null
}
