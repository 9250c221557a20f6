/**
 * SQL as a template: sql`SELECT title FROM deal WHERE id = ${id}::bigint`. The text of a template is our own;
 * an interpolated value becomes a parameter, unless it is SQL itself. Parameters are numbered, and the same
 * shape gives the same text, so that a statement stays prepared. Knows no table and no database.
 */

/** The value of a parameter: PostgreSQL gets texts, and casts them. */
export type Value = string | null

/** A statement in the form that a database takes. */
export type Statement = { readonly text: string; readonly values: readonly Value[] }

/**
 * A part of a statement, or a whole one. A class, so that no input can pass for one: only the functions below
 * make instances.
 */
class Sql {
  readonly strings: readonly string[]
  readonly parts: readonly Part[]
  constructor(strings: readonly string[], parts: readonly Part[]) {
    this.strings = strings
    this.parts = parts
  }
}

/** A value bound to one placeholder (`$n`), even if it is used several times. */
class Param {
  readonly value: Value
  constructor(value: Value) {
    this.value = value
  }
}

export type { Param, Sql }

export type Part = Sql | Param | Value

/** A parameter for a statement that uses it several times. */
export function param(value: Value): Param {
  return new Param(value)
}

function template(strings: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  return concatenated(strings, parts)
}

/** SQL without parameters is concatenated once, where it is made. */
function concatenated(strings: readonly string[], parts: readonly Part[]): Sql {
  let text = strings[0]!
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!
    if (!(part instanceof Sql) || part.parts.length > 0) return new Sql(strings, parts)
    text += part.strings[0] + strings[index + 1]!
  }
  return new Sql([text], [])
}

const none = new Sql([''], [])

/** Joins parts with `between`. Parts that are `sql.none` are left out. */
function join(parts: readonly Part[], between: Sql = comma): Sql {
  const all = parts.filter(part => part !== none)
  if (all.length === 0) return none
  if (between.parts.length > 0) throw new Error('a separator has no parameters')
  return concatenated(['', ...Array<string>(all.length - 1).fill(between.strings[0]!), ''], all)
}

const comma = new Sql([', '], [])

/** A quoted identifier of a table, a column or an alias. */
function id(name: string): Sql {
  const known = ids.get(name)
  if (known) return known
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`not an identifier: ${name}`)
  if (ids.size >= mostIds) ids.clear()
  const quoted = new Sql([`"${name}"`], [])
  ids.set(name, quoted)
  return quoted
}

/** Memoized: a deal has sixty columns. The size is limited, because indexes of accounts have names too. */
const ids = new Map<string, Sql>()
const mostIds = 1000

/**
 * A text literal in the statement, such as a JSON path, on which an index or a plan may depend. Only letters,
 * digits and characters of paths; nothing that needs escaping.
 */
function text(value: string): Sql {
  if (!/^[\p{L}\p{N} _.,:"{}[\]$*-]*$/u.test(value)) throw new Error(`not a plain text: ${value}`)
  return new Sql([`'${value}'`], [])
}

/** An integer literal in the statement, where the planner sees it. */
function integer(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`not a whole number: ${value}`)
  return new Sql([String(value)], [])
}

const types = [
  'bigint',
  'bigint[]',
  'date',
  'int',
  'jsonb',
  'numeric',
  'text',
  'text[]',
  'timestamptz',
] as const
export type SqlType = (typeof types)[number]

function type(name: SqlType): Sql {
  if (!types.includes(name)) throw new Error(`not a type: ${name}`)
  return new Sql([name], [])
}

export const sql = Object.assign(template, { id, integer, join, none, text, type })

/** The text of a statement and its parameters, numbered in order of occurrence, `first` before all others. */
export function compile(statement: Sql, ...first: readonly Param[]): Statement {
  const { text, params } = numbered(statement, first)
  return { text, values: params.map(valueOfPart) }
}

function valueOfPart(part: Param | Value): Value {
  return part instanceof Param ? part.value : part
}

function numbered(statement: Sql, first: readonly Param[] = []) {
  const params: (Param | Value)[] = [...first]
  const numbers = new Map(first.map((part, index) => [part, index + 1]))
  const numberOf = (part: Param | Value): number => {
    if (!(part instanceof Param)) return params.push(part)
    const known = numbers.get(part)
    if (known) return known
    const number = params.push(part)
    numbers.set(part, number)
    return number
  }
  const pieces: string[] = []
  const write = ({ strings, parts }: Sql): void => {
    pieces.push(strings[0]!)
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index]!
      if (part instanceof Sql) write(part)
      else pieces.push(`$${numberOf(part)}`)
      pieces.push(strings[index + 1]!)
    }
  }
  write(statement)
  return { text: pieces.join(''), params }
}

export function arrayLiteral(texts: readonly Value[]): string {
  const items = texts.map(text => {
    if (text === null) return 'NULL'
    return /[\\"]/.test(text) ? `"${text.replace(/[\\"]/g, '\\$&')}"` : `"${text}"`
  })
  return `{${items.join()}}`
}

/** A text as a part of a LIKE pattern, in which `%` and `_` are ordinary. */
export function likeText(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

/** A statement with CTEs in front, which it may use. */
export function withCtes(ctes: readonly Sql[], { text, values }: Statement): Statement {
  const head = compile(join(ctes, template`,\n`), ...values.map(param))
  const body = text.trimStart()
  const rest = body.startsWith('WITH ') ? `,\n${body.slice('WITH '.length)}` : `\n${body}`
  return { text: `WITH ${head.text}${rest}`, values: head.values }
}

/**
 * A fragment that is built once, for a long one that varies in `count` values only. `make` gets their
 * placeholders; the returned function replaces these with actual parts.
 */
export function pattern(
  count: number,
  make: (slots: readonly Param[]) => Sql,
): (given: readonly Part[]) => Sql {
  const slots = Array.from({ length: count }, () => param(null))
  const strings = ['']
  const places: number[] = []
  const add = (whole: Sql): void => {
    strings.push(strings.pop()! + whole.strings[0]!)
    for (const [index, part] of whole.parts.entries()) {
      if (part instanceof Sql) add(part)
      else strings[places.push(slots.indexOf(part as Param))] = ''
      strings.push(strings.pop()! + whole.strings[index + 1]!)
    }
  }
  add(make(slots))
  if (places.includes(-1)) throw new Error('a pattern has no values of its own')
  return given =>
    new Sql(
      strings,
      places.map(place => given[place]!),
    )
}

/**
 * A statement that is compiled once and run with other values each time, for the most frequent ones. `make`
 * gets a parameter for each of its arguments.
 */
export function prepared(make: (...params: Param[]) => Sql): (...values: Value[]) => Statement {
  const slots = Array.from({ length: make.length }, () => param(null))
  const { text, params } = numbered(make(...slots))
  const places = params.map(part => slots.indexOf(part as Param))
  const fixed = params.map(valueOfPart)
  return (...values) => ({
    text,
    values: places.map((place, index) => (place < 0 ? fixed[index]! : values[place]!)),
  })
}

/** Runs a statement that reads. `replan`: plans it anew each time (db/open.ts). */
export function ask<Rows>(
  db: { query(text: string, values: readonly Value[], replan?: boolean): Rows },
  statement: Sql | Statement,
  replan = false,
): Rows {
  const { text, values } = statement instanceof Sql ? compile(statement) : statement
  return db.query(text, values, replan)
}

/** Deletes up to `max` of a table's rows of which a condition is true; returns their number. */
export async function deleteSome(
  db: { query(text: string, values: readonly Value[]): Promise<readonly object[]> },
  table: string,
  max: number,
  isMeant: (row: Sql) => Sql,
): Promise<number> {
  const name = sql.id(table)
  const some = sql`SELECT y.ctid FROM ${name} y WHERE ${isMeant(sql`y`)} LIMIT ${sql.integer(max)}`
  const gone = sql`DELETE FROM ${name} x WHERE ${isMeant(sql`x`)} AND x.ctid = ANY(ARRAY(${some})) RETURNING 1 AS one`
  return (await ask(db, gone)).length
}
