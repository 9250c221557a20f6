/**
 * The format of a backup (D59): lines of JSON. The first says what follows; then each table by name and its rows, arrays of PostgreSQL's text
 * of each value; the last counts the rows and has the SHA-256 of all lines before it. Owns what a whole and unharmed backup is. Knows no
 * files, no compression and no database.
 */
import { createHash, type Hash } from 'node:crypto'
import { BackupError } from './backup-error.ts'

export type AppliedMigration = { readonly version: number; readonly name: string; readonly checksum: string }
export type BackupTable = { readonly name: string; readonly columns: readonly string[] }

export type BackupHeader = {
  readonly made_at: string
  readonly service_version: string
  /** what it was read from, for people */
  readonly database: string
  readonly migrations: readonly AppliedMigration[]
  /** every table after those that it refers to */
  readonly tables: readonly BackupTable[]
}

/** How many rows each table has. */
export type RowCounts = { readonly [table: string]: number }

export type BackupPart =
  | { readonly kind: 'header'; readonly header: BackupHeader }
  | { readonly kind: 'rows'; readonly table: BackupTable; readonly rows: readonly Uint8Array[] }
  /** All that came before was whole and unharmed. */
  | { readonly kind: 'end'; readonly rows: RowCounts }

const format = 'dealwright-backup'
const formatVersion = 1
const lineFeed = Uint8Array.of(10)
const openBracket = 0x5b

/** Makes a backup's text, piece by piece; what it returns is to be written in that order. */
export type BackupWriter = {
  header(header: BackupHeader): Uint8Array
  table(name: string): Uint8Array
  /** Rows of the table that was named last, each a JSON array on one line. */
  rows(rows: readonly Uint8Array[]): Uint8Array
  end(): Uint8Array
}

export function backupWriter(): BackupWriter {
  const hash = createHash('sha256')
  const counts: Record<string, number> = {}
  let current = ''
  const hashed = (bytes: Uint8Array) => {
    hash.update(bytes)
    return bytes
  }
  const line = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`)
  return {
    header: header => hashed(line({ format, format_version: formatVersion, ...header })),
    table(name) {
      current = name
      counts[name] = 0
      return hashed(line({ table: name }))
    },
    rows(rows) {
      counts[current] = counts[current]! + rows.length
      return hashed(Buffer.concat(rows.flatMap(row => [row, lineFeed])))
    },
    end: () => line({ rows: counts, sha256: hash.digest('hex') }),
  }
}

/**
 * Reads a backup's lines, which come in groups, each with its line feed. Throws a BackupError where they are not a backup, not one of
 * this format's version, or not as they were written; what was yielded until then must be undone.
 */
export async function* readBackup(groups: AsyncIterable<readonly Uint8Array[]>): AsyncGenerator<BackupPart> {
  const hash = createHash('sha256')
  const counts: Record<string, number> = {}
  let header: BackupHeader | undefined
  let table: BackupTable | undefined
  let hasEnded = false
  for await (const lines of groups) {
    let rows: Uint8Array[] = []
    for (const line of lines) {
      if (hasEnded) throw damaged('something follows its end')
      if (header && table && line[0] === openBracket) {
        hash.update(line)
        rows.push(line)
        continue
      }
      if (table && rows.length > 0) yield count(counts, table, rows)
      rows = []
      if (!header) {
        header = readHeader(line)
        yield { kind: 'header', header }
      } else {
        const note = parse(line)
        if ('sha256' in note) {
          requireWhole(note, hash, counts, header)
          hasEnded = true
          continue
        }
        table = header.tables.find(({ name }) => name === note.table)
        if (!table || table.name in counts) throw damaged('it has a table that it should not')
        counts[table.name] = 0
      }
      hash.update(line)
    }
    if (table && rows.length > 0) yield count(counts, table, rows)
  }
  if (!header) throw new BackupError('The file is empty: it is not a backup.')
  if (!hasEnded) throw damaged('its end is missing')
  yield { kind: 'end', rows: counts }
}

function count(counts: Record<string, number>, table: BackupTable, rows: readonly Uint8Array[]): BackupPart {
  counts[table.name] = counts[table.name]! + rows.length
  return { kind: 'rows', table, rows }
}

function readHeader(line: Uint8Array): BackupHeader {
  const header = parseOrNull(line)
  if (header?.format !== format) throw new BackupError('The file is not a backup made by "dealwright backup".')
  if (header.format_version !== formatVersion)
    throw new BackupError(
      `The backup has the format ${header.format_version} and this program reads ${formatVersion}: restore with the newer program.`,
    )
  if (!Array.isArray(header.migrations) || !Array.isArray(header.tables)) throw damaged('its first line lacks something')
  return header as unknown as BackupHeader
}

function requireWhole(note: Record<string, unknown>, hash: Hash, counts: RowCounts, header: BackupHeader): void {
  if (note.sha256 !== hash.digest('hex')) throw damaged('its checksum differs')
  const told = (note.rows ?? {}) as RowCounts
  const missing = header.tables.find(({ name }) => told[name] === undefined || told[name] !== counts[name])
  if (missing) throw damaged(`the rows of ${missing.name} are not all there`)
}

function parse(line: Uint8Array): Record<string, unknown> {
  const value = parseOrNull(line)
  if (!value) throw damaged('it has a line that is none of a backup')
  return value
}

function parseOrNull(line: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString())
    return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null
  } catch {
    return null
  }
}

/** The one way to say that a backup is not as it was written. */
export function damaged(how: string): BackupError {
  return new BackupError(`The backup is damaged or cut short (${how}); nothing was restored. Use another copy of it.`)
}
