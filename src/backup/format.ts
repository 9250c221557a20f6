/**
 * The format of a backup (D60): lines of JSON. The first line is the header. Then comes each table by name
 * with its rows, which are arrays of PostgreSQL's text of each value. The last line has the number of rows
 * and the SHA-256 of all lines before it. Owns the checks of completeness, and the maximum length of lines.
 * Knows no files, no compression and no database.
 */
import { createHash, type Hash } from 'node:crypto'

/** Its message is one whole line with the problem and the remedy; a stack trace adds nothing. */
export class BackupError extends Error {
  override name = 'BackupError'
  readonly isPlain = true
}

export type AppliedMigration = { readonly version: number; readonly name: string; readonly checksum: string }
export type BackupTable = { readonly name: string; readonly columns: readonly string[] }

export type BackupHeader = {
  readonly made_at: string
  readonly service_version: string
  /** source, for people */
  readonly database: string
  readonly migrations: readonly AppliedMigration[]
  /** each table after those that it refers to */
  readonly tables: readonly BackupTable[]
}

/** Table → number of its rows. */
export type RowCounts = { readonly [table: string]: number }

export type BackupPart =
  | { readonly kind: 'header'; readonly header: BackupHeader }
  /** `line`: number of the first row's line, from 1 */
  | {
      readonly kind: 'rows'
      readonly table: BackupTable
      readonly line: number
      readonly rows: readonly Uint8Array[]
    }
  /** Everything before it is complete and undamaged. */
  | { readonly kind: 'end'; readonly rows: RowCounts }

const format = 'dealwright-backup'
const formatVersion = 1
const lineFeed = Uint8Array.of(10)
const openBracket = 0x5b

/**
 * Maximum of bytes per line. PostgreSQL prints a number with all its digits: metadata of 16 kB may become 23
 * MB, and 47 MB in the event that also has its previous value. Loading a row takes some fifteen times its
 * line in memory.
 */
export const longestLine = 128 * 1024 * 1024
/** Maximum for a line that is not a row. Such a line is parsed as a whole. */
const longestNote = 1024 * 1024

/** True if a line is a row; other lines are notes. */
export function isRow(line: Uint8Array): boolean {
  return line[0] === openBracket
}

/** The first line of a backup. */
export function headOf(header: BackupHeader): object {
  return { format, format_version: formatVersion, ...header }
}

/**
 * Builds the text of a file of rows, piece by piece. The pieces must be written in the order of their return;
 * `begin` counts the rows of another table.
 */
export function linesWriter() {
  const hash = createHash('sha256')
  const counts: Record<string, number> = {}
  let current = ''
  const hashed = (bytes: Uint8Array) => {
    hash.update(bytes)
    return bytes
  }
  const line = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`)
  return {
    counts: counts as RowCounts,
    note: (value: object) => hashed(line(value)),
    begin(table: string) {
      current = table
      counts[table] = 0
    },
    /** Rows of the table, each the JSON of one line. */
    rows(rows: readonly Uint8Array[]) {
      counts[current]! += rows.length
      return hashed(Buffer.concat(rows.flatMap(row => [row, lineFeed])))
    },
    end: () => line({ rows: counts, sha256: hash.digest('hex') }),
  }
}

/**
 * Reads the lines of a backup, which come in groups, each line with its line feed. Throws a BackupError if
 * they are no backup, have another version of the format, or are damaged. The caller must then undo its work
 * on the parts yielded before.
 */
export async function* readBackup(groups: AsyncIterable<readonly Uint8Array[]>): AsyncGenerator<BackupPart> {
  const hash = createHash('sha256')
  const counts: Record<string, number> = {}
  let header: BackupHeader | undefined
  let table: BackupTable | undefined
  let hasEnded = false
  let number = 0
  const rowsOf = (table: BackupTable, rows: readonly Uint8Array[], line: number): BackupPart => {
    counts[table.name] = counts[table.name]! + rows.length
    hash.update(rows.length === 1 ? rows[0]! : Buffer.concat(rows))
    return { kind: 'rows', table, line, rows }
  }
  for await (const lines of groups) {
    let rows: Uint8Array[] = []
    for (const line of lines) {
      if (hasEnded) throw damaged('something follows its end')
      number++
      if (header && table && isRow(line)) {
        if (line.length < shortestRow(table)) throw damaged(`it has a row that is not a row of ${table.name}`)
        rows.push(line)
        continue
      }
      if (table && rows.length > 0) yield rowsOf(table, rows, number - rows.length)
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
        if (!table || Object.hasOwn(counts, table.name)) throw damaged('it has an unexpected table')
        counts[table.name] = 0
      }
      hash.update(line)
    }
    if (table && rows.length > 0) yield rowsOf(table, rows, number - rows.length + 1)
  }
  if (!header) throw notABackup('The file is empty: it')
  if (!hasEnded) throw damaged('its end is missing')
  yield { kind: 'end', rows: counts }
}

/** Each value takes two quotes and the character before them; then come a bracket and a line feed. */
function shortestRow({ columns }: BackupTable): number {
  return columns.length * 3 + 2
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The values of a row's line, one per column. A value must be a text or null, so that a line never takes much
 * more memory than its own length. Throws a BackupError for any other line.
 */
export function valuesOf(line: Uint8Array, { name, columns }: BackupTable): (string | null)[] {
  try {
    const text = decoder.decode(line)
    const values: (string | null)[] = []
    let at = 0
    for (const _ of columns) {
      requireThat(text[at] === (at === 0 ? '[' : ','))
      const end = endOfValue(text, at + 1)
      const value = text.slice(at + 1, end)
      values.push(
        value.includes('\\') ? (JSON.parse(value) as string) : value === 'null' ? null : value.slice(1, -1),
      )
      at = end
    }
    requireThat(text.slice(at) === ']\n')
    return values
  } catch {
    throw damaged(`it has a row that is not a row of ${name}`)
  }
}

/** The position after the text or null that begins at `start`. */
function endOfValue(text: string, start: number): number {
  if (text.startsWith('null', start)) return start + 4
  requireThat(text[start] === '"')
  for (let quote = text.indexOf('"', start + 1); quote > 0; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0
    while (text[quote - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return quote + 1
  }
  throw new Error('a text without an end')
}

function requireThat(condition: boolean): void {
  if (!condition) throw new Error('not as a row is written')
}

function readHeader(line: Uint8Array): BackupHeader {
  const header = parseOrNull(line)
  if (header?.format !== format) throw notABackup('The file')
  const { format_version: version, migrations, tables } = header
  if (version !== formatVersion && Number.isInteger(version))
    throw new BackupError(
      `The backup has the format ${version} and this program reads ${formatVersion}: restore with the newer program.`,
    )
  const isWhole =
    version === formatVersion &&
    [header.made_at, header.service_version, header.database].every(isShort) &&
    isListOf(
      migrations,
      ({ version, name, checksum }) => Number.isInteger(version) && isShort(name) && isShort(checksum),
    ) &&
    isListOf(
      tables,
      ({ name, columns }) =>
        isName(name) && Array.isArray(columns) && columns.length > 0 && areNames(columns),
    ) &&
    areNames((tables as BackupTable[]).map(({ name }) => name))
  if (!isWhole) throw damaged('its first line is not as a backup writes it')
  return header as unknown as BackupHeader
}

function isListOf(value: unknown, isOne: (entry: Record<string, unknown>) => boolean): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(entry => typeof entry === 'object' && entry !== null && isOne(entry))
  )
}

/** True for names of tables and columns in the form of the service's migrations, without duplicates. */
function areNames(names: readonly unknown[]): boolean {
  return names.every(isName) && new Set(names).size === names.length
}

function isName(text: unknown): boolean {
  return typeof text === 'string' && /^[a-z][a-z0-9_]{0,62}$/.test(text)
}

/** True if a text is one short line that can be printed safely. */
function isShort(text: unknown): boolean {
  return typeof text === 'string' && /^[^\p{C}]{1,200}$/u.test(text)
}

function requireWhole(
  note: Record<string, unknown>,
  hash: Hash,
  counts: RowCounts,
  header: BackupHeader,
): void {
  if (note.sha256 !== hash.digest('hex')) throw damaged('its checksum differs')
  const rowCounts = (note.rows ?? {}) as RowCounts
  const missing = header.tables.find(
    ({ name }) => rowCounts[name] === undefined || rowCounts[name] !== counts[name],
  )
  if (missing) throw damaged(`the rows of ${missing.name} are not all there`)
}

function parse(line: Uint8Array): Record<string, unknown> {
  const value = parseOrNull(line)
  if (!value) throw damaged('it has a line that does not belong in a backup')
  return value
}

function parseOrNull(line: Uint8Array): Record<string, unknown> | null {
  if (line.length > longestNote) return null
  try {
    const value: unknown = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString())
    return typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown> | null)
      : null
  } catch {
    return null
  }
}

export function notABackup(what: string): BackupError {
  return new BackupError(`${what} is not a backup made by "dealwright backup"; name one that is.`)
}

export function damaged(how: string): BackupError {
  return new BackupError(
    `The backup is damaged or cut short (${how}); nothing was restored. Use another copy of it.`,
  )
}
