/**
 * A database that records a span for each statement, read or write of the request under way. A transaction
 * and a snapshot have one each, and statements in a transaction are its children. The time of a span has its
 * waits, for a connection, a turn or a commit. No span has a text or a parameter.
 */
import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { Database } from '../db/open.ts'
import type { Queries } from '../db/transaction.ts'
import { statementsOf } from '../mergeable-write.ts'

/** Runs `act` in a span, if a request is traced. */
type InSpan = <T>(name: () => Named, act: (parent: Context | null) => Promise<T>) => Promise<T>
type Named = { readonly operation: string; readonly table?: string | undefined }

/** `requestOf`: the context of the request under way; null: there is none, or it is not sampled. */
export function tracedDatabase(db: Database, tracer: Tracer, requestOf: () => Context | null): Database {
  const inSpan = spans(tracer, requestOf)
  return {
    ...db,
    ...tracedReads(db, inSpan),
    write: tracedWrite(db, inSpan),
    inTurn: options => {
      const reader = db.inTurn(options)
      return { ...reader, ...tracedReads(reader, inSpan) }
    },
    snapshot: db.snapshot && ((act, ended) => inSpan(constant('snapshot'), () => db.snapshot!(act, ended))),
    transaction: (options, act) =>
      inSpan(constant('transaction'), parent => {
        const inner = spans(tracer, () => parent)
        const traced = (tx: Queries) => ({
          ...tx,
          query: tracedQuery(tx.query, inner),
          write: tracedWrite(tx, inner),
        })
        return db.transaction(options, tx => act(traced(tx)))
      }),
  }
}

function constant(operation: string): () => Named {
  return () => ({ operation })
}

function tracedReads(
  { query, queryBytes }: Pick<Database, 'query' | 'queryBytes'>,
  inSpan: InSpan,
): Pick<Database, 'query' | 'queryBytes'> {
  return { query: tracedQuery(query, inSpan), queryBytes: tracedQuery(queryBytes, inSpan) }
}

function tracedQuery<More extends readonly unknown[], Rows>(
  query: (text: string, ...more: More) => Promise<Rows>,
  inSpan: InSpan,
): (text: string, ...more: More) => Promise<Rows> {
  return (text, ...more) =>
    inSpan(
      () => namedBy(text),
      () => query(text, ...more),
    )
}

function tracedWrite({ write }: Pick<Database, 'write'>, inSpan: InSpan): Database['write'] {
  return (account, content) =>
    inSpan(
      () => nameOfWrite(statementsOf(content).map(({ text }) => text)),
      () => write(account, content),
    )
}

function spans(tracer: Tracer, parentOf: () => Context | null): InSpan {
  return async (name, act) => {
    const parent = parentOf()
    if (!parent) return act(null)
    const { operation, table } = name()
    const attributes = {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      ...(table === undefined ? {} : { 'db.collection.name': table }),
    }
    const title = table === undefined ? operation : `${operation} ${table}`
    const span = tracer.startSpan(title, { kind: SpanKind.CLIENT, attributes }, parent)
    try {
      return await act(trace.setSpan(parent, span))
    } catch (error) {
      refused(span, error as Error & { code?: string })
      throw error
    } finally {
      span.end()
    }
  }
}

/** The SQLSTATE, or the name of the error. Its message quotes values. */
function refused(span: Span, { name, code }: Error & { readonly code?: string }): void {
  const isOfPostgres = name === 'PostgresError' && code !== undefined
  if (isOfPostgres) span.setAttribute('db.response.status_code', code)
  span.setAttribute('error.type', isOfPostgres ? code : name)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

const literals = /'(?:[^']|'')*'/g
const changes = /(?<!\b(?:FOR|DO) )\b(INSERT INTO|UPDATE|DELETE FROM) "?(\w+)/g
const sources = /\bFROM "?(\w+)\b"?(?![.(])/g
const ctes = /\b(\w+)"? AS (?:MATERIALIZED )?\(/g

const reading = 'SELECT'
/** Every write changes it. */
const ofEveryWrite = 'counter'

/** Statements come again. */
const known = new Map<string, Named>()
const mostKnown = 1000

/** The statements of a write go together; the first that changes something names them. */
function nameOfWrite(texts: readonly string[]): Named {
  const all = texts.map(namedBy)
  return all.find(({ operation }) => operation !== reading) ?? all.at(-1)!
}

function namedBy(text: string): Named {
  const before = known.get(text)
  if (before) return before
  if (known.size >= mostKnown) known.clear()
  const named = nameOf(text.replace(literals, "''"))
  known.set(text, named)
  return named
}

/** The first table that a statement changes, or else reads. Its name is the schema's, not a customer's. */
function nameOf(text: string): Named {
  for (const [, command, table] of text.matchAll(changes))
    if (table !== ofEveryWrite) return { operation: command!.split(' ', 1)[0]!, table }
  const own = new Set([...text.matchAll(ctes)].map(([, name]) => name))
  const read = [...text.matchAll(sources)].map(([, table]) => table)
  const table = read.find(one => one !== ofEveryWrite && !own.has(one))
  return { operation: reading, table }
}
