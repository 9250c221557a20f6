/**
 * PostgreSQL's wire protocol, version 3 (PostgreSQL, "Message Formats"): writes and reads the messages that
 * the client needs. All values are text in both directions. So PostgreSQL alone decides what they mean, and
 * numbers keep every digit. Knows no connection and no query.
 */
import { protocolViolation } from '../unavailable.ts'
import { writer } from './message-writer.ts'

/** A value is the text PostgreSQL prints for it, or null: numbers, booleans (t, f), dates, JSON alike. */
export type Row = Record<string, string | null>

/** PostgreSQL's refusal of a statement. */
export class PostgresError extends Error {
  override name = 'PostgresError'
  /** SQLSTATE */
  readonly code: string
  /** True if the connection ends with this error */
  readonly isFatal: boolean
  /** the function of PostgreSQL that refused */
  readonly routine: string | undefined
  readonly table_name: string | undefined
  readonly column_name: string | undefined
  readonly constraint_name: string | undefined

  /** Reads the body of an ErrorResponse. */
  constructor(body: Buffer) {
    const fields = fieldsOf(body)
    super(fields.get('M'))
    this.routine = fields.get('R')
    this.code = codeOf(fields.get('C') ?? '', this.message)
    this.isFatal = /FATAL|PANIC/.test(fields.get('V') ?? '')
    this.table_name = fields.get('t')
    this.column_name = fields.get('c')
    this.constraint_name = fields.get('n')
  }
}

/**
 * The SQLSTATE of a refusal. Citus keeps only the message of what a node refuses while rows are copied to it
 * (D173).
 */
function codeOf(code: string, message: string): string {
  if (code !== 'XX000') return code
  if (/ violates unique constraint /.test(message)) return '23505'
  return / violates foreign key constraint /.test(message) ? '23503' : code
}

/** The fields of an ErrorResponse or a NoticeResponse by their letters. */
export function fieldsOf(body: Buffer): Map<string, string> {
  const fields = body.toString('utf8').split('\0')
  return new Map(fields.map(field => [field.slice(0, 1), field.slice(1)]))
}

/** The name and the value of a ParameterStatus. */
export function statusOf(body: Buffer): [name: string, value: string] {
  const [name = '', value = ''] = body.toString('utf8').split('\0')
  return [name, value]
}

/** The types of the messages that the client reads. */
export const from = {
  authentication: 0x52,
  cancelKey: 0x4b,
  parsed: 0x31,
  bound: 0x32,
  rowDescription: 0x54,
  noRows: 0x6e,
  row: 0x44,
  carriedOut: 0x43,
  empty: 0x49,
  refusal: 0x45,
  ready: 0x5a,
  notice: 0x4e,
  status: 0x53,
  notification: 0x41,
} as const

/** a message's type and its length */
const headLength = 5

/**
 * Cuts received chunks into messages. Throws when the bytes are not PostgreSQL's protocol, or a message is
 * longer than `longest` bytes, which may change with each. A message of several chunks is assembled as they
 * arrive: a row may have hundreds of megabytes, and copying them at its end would block everything else.
 */
export function messageReader(
  longest: () => number,
  onMessage: (type: number, body: Buffer) => void,
): (chunk: Buffer) => void {
  /** the incomplete message, or its incomplete head; `held` is the number of bytes received */
  let message = Buffer.alloc(0)
  let held = 0
  const pass = (bytes: Buffer, from: number, to: number) =>
    onMessage(bytes[from]!, bytes.subarray(from + headLength, to))

  /** Length of the message that begins at `at`, with its head. */
  const lengthOf = (bytes: Buffer, at: number) => {
    const length = bytes.readUInt32BE(at + 1)
    if (length < 4) throw protocolViolation('a message is shorter than its head')
    if (length > longest()) throw protocolViolation('a message is longer than any that belongs there')
    return length + 1
  }
  /** Adds bytes to the incomplete message; returns where the next one begins. */
  const goOn = (chunk: Buffer): number => {
    let at = 0
    while (held > 0 && at < chunk.length) {
      const copied = chunk.copy(message, held, at)
      at += copied
      held += copied
      if (held < message.length) break
      const length = held === headLength ? lengthOf(message, 0) : held
      if (held === length) {
        held = 0
        pass(message, 0, length)
      } else {
        const whole = Buffer.allocUnsafe(length)
        message.copy(whole)
        message = whole
      }
    }
    return at
  }

  return chunk => {
    let at = goOn(chunk)
    while (at < chunk.length) {
      const left = chunk.length - at
      const length = left < headLength ? headLength : lengthOf(chunk, at)
      if (left >= length) pass(chunk, at, at + length)
      else {
        message = Buffer.allocUnsafe(length)
        held = chunk.copy(message, 0, at)
      }
      at += length
    }
  }
}

/**
 * The names of the columns in a RowDescription. Throws when the message has other parts, as do those below.
 */
export function columnNames(body: Buffer): string[] {
  let at = 2
  const names = Array.from({ length: body.readUInt16BE(0) }, () => {
    const end = body.indexOf(0, at)
    const name = body.toString('utf8', at, end)
    at = end < 0 ? body.length + 1 : end + 19
    return name
  })
  requireEnd(body, at)
  return names
}

/** A DataRow's values by the names of its columns. */
export function readRow(body: Buffer, names: readonly string[]): Row {
  const row: Row = {}
  let at = 2
  for (const name of names) {
    const length = body.readInt32BE(at)
    at += 4
    row[name] = length < 0 ? null : body.toString('utf8', at, at + length)
    if (length > 0) at += length
  }
  requireEnd(body, at)
  return row
}

/** A DataRow's values in their order, as the bytes that were sent. */
export function readRawRow(body: Buffer): (Buffer | null)[] {
  let at = 2
  const row = Array.from({ length: body.readUInt16BE(0) }, () => {
    const length = body.readInt32BE(at)
    at += 4 + Math.max(length, 0)
    return length < 0 ? null : body.subarray(at - length, at)
  })
  requireEnd(body, at)
  return row
}

/** Throws when its parts don't end with the message. */
export function requireEnd(body: Buffer, at: number): void {
  if (at !== body.length) throw protocolViolation('a message is not as long as its parts')
}

/** Begins a session with these settings: user, database, and parameters of PostgreSQL. */
export function startup(settings: Readonly<Record<string, string>>): Buffer {
  const out = writer()
  out.begin()
  out.int32(3 << 16)
  for (const setting of Object.entries({ ...settings, client_encoding: 'UTF8' }))
    for (const text of setting) out.name(text)
  out.name('')
  return out.end()
}

/** The answer to an Authentication message; `mechanism` for the first of several answers. */
export function password(answer: string, mechanism?: string): Buffer {
  const out = writer()
  out.begin('p')
  if (mechanism === undefined) out.name(answer)
  else {
    out.name(mechanism)
    out.value(answer)
  }
  return out.end()
}

/** A later one of several answers. */
export function passwordGoesOn(answer: string): Buffer {
  const out = writer()
  out.begin('p')
  out.text(answer)
  return out.end()
}

/** With a `name`, the connection keeps it prepared. One that is not new is already prepared. */
type Statement = {
  readonly name: string
  readonly isNew: boolean
  readonly text: string
  readonly params: readonly (string | null)[]
}

/** Statements with their parameters. One Sync ends them all, so PostgreSQL makes one transaction of them. */
export function statements(all: readonly Statement[]): Buffer {
  const out = writer()
  for (const { name, isNew, text, params } of all) {
    if (isNew) {
      out.begin('P')
      out.name(name)
      out.name(text)
      out.int16(0)
    }
    out.begin('B')
    out.name('')
    out.name(name)
    out.int16(0)
    out.int16(params.length)
    for (const param of params) out.value(param)
    out.int16(0)
    out.begin('D')
    out.text('P')
    out.name('')
    out.begin('E')
    out.name('')
    out.int32(0)
  }
  out.begin('S')
  return out.end()
}

/** Statements without parameters, sent by the simple protocol. */
export function script(text: string): Buffer {
  const out = writer()
  out.begin('Q')
  out.name(text)
  return out.end()
}

/**
 * CancelRequest: asks a server to cancel the statement of the session that sent this BackendKeyData. It goes
 * over a connection of its own.
 */
export function cancel(key: Buffer): Buffer {
  const out = writer()
  out.begin()
  out.int32(80877102)
  for (const at of [0, 4]) out.int32(key.readInt32BE(at))
  return out.end()
}

/** Ends the session. */
export const terminate: Buffer = Buffer.from([0x58, 0, 0, 0, 4])
