/**
 * Bulk creation of very many deals, for tests and benches of lists: set-based, copied from the sample's,
 * spread over three years.
 */
import type { Database } from '../../src/db/open.ts'
import { DatabaseUnavailable } from '../../src/db/unavailable.ts'

/** In the titles of exactly twenty deals. */
export const rareWord = 'xylophone'
/** In the titles of a fifth of the deals. */
export const commonWord = 'expansion'
/** The purchase order number of exactly twenty deals. */
export const rareText = 'PO-4711'

const chunk = 20_000

/**
 * Makes `count` deals in the first account, which has the sample's, with the ids from 1000 on. `onStep` takes
 * the progress.
 */
export async function makeManyDeals(
  db: Database,
  count: number,
  onStep: (done: number, of: number, what: string) => void = () => {},
): Promise<void> {
  const steps = Math.ceil(count / chunk)
  const indexes = await patiently(() => withoutIndexes(db))
  const work = steps + indexes.length + 1
  for (let step = 0; step < steps; step++) {
    const until = Math.min((step + 1) * chunk, count)
    await patiently(() => makeDeals(db, step * chunk, until, count))
    onStep(step + 1, work, `${until} of ${count} deals`)
  }
  for (const [index, { name, definition, statistics }] of indexes.entries()) {
    await patiently(() => define(db, [definition, ...statistics]))
    onStep(steps + index + 1, work, name)
  }
  await patiently(() =>
    db.query(
      'UPDATE counter SET last_id = (SELECT max(id) FROM deal WHERE account_id = 1) WHERE account_id = $1::bigint',
      ['1'],
    ),
  )
  await patiently(() => db.sql.query('VACUUM (ANALYZE)'))
  await patiently(() => check(db))
  onStep(work, work, 'done')
}

/**
 * Retries after too long a wait for the embedded engine (D104). The first attempt may have succeeded, so
 * `act` must be idempotent.
 */
export async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error
    }
  }
}

type Index = { name: string; definition: string; statistics: string[] }

/**
 * Rows are inserted into a table without indexes several times as fast; they are recreated from the catalog.
 */
async function withoutIndexes(db: Database): Promise<Index[]> {
  const rows = await db.query(
    `SELECT indexname AS name, indexdef AS definition, (SELECT json_agg(format('ALTER INDEX %I ALTER COLUMN %s SET STATISTICS %s', indexname, attnum, attstattarget))
       FROM pg_attribute WHERE attrelid = indexname::regclass AND attstattarget > 0)::text AS statistics
     FROM pg_indexes WHERE schemaname = 'public' AND tablename = 'deal' AND indexname <> 'deal_pkey'`,
  )
  await define(
    db,
    rows.map(({ name }) => `DROP INDEX ${name}`),
  )
  return rows.map(({ name, definition, statistics }) => ({
    name: name!,
    definition: definition!,
    statistics: statistics ? (JSON.parse(statistics) as string[]) : [],
  }))
}

/**
 * Retries while a background task of the server holds the table: an autovacuum takes its time to give way.
 */
async function define(db: Database, statements: string[]): Promise<void> {
  await db.sql.begin(async tx => {
    for (const limit of ['statement_timeout', 'lock_timeout']) await tx.query(`SET LOCAL ${limit} = 0`)
    for (const statement of statements) await tx.query(statement)
  })
}

/** SQL of a deal's own columns; the rest is copied from its model, one of the sample's. `i` counts from 0. */
const own: { readonly [column: string]: string } = {
  title: `s.title || CASE WHEN i % 5 = 2 THEN ' ${commonWord}' ELSE '' END || CASE WHEN i % p.twentieth = 7 THEN ' ${rareWord}' ELSE '' END || ' ' || i`,
  created_at: "date_trunc('second', p.now - interval '1095 days' * ((p.count - i)::float8 / p.count))",
  updated_at:
    "date_trunc('second', p.now - interval '1095 days' * ((p.count - i)::float8 / p.count) + interval '1 minute' * (i * 7919 % 10007))",
  expected_close_date: 's.expected_close_date + (i * 7919 % 361 - 180)::int',
  deal_value_value: 's.deal_value_value + i * 7919 % 100003',
  deal_value_in_base_currency_value: 's.deal_value_in_base_currency_value + i * 7919 % 100003',
  custom: `s.custom || jsonb_build_object('cf_custom_text_field', CASE WHEN i % p.twentieth = 3 THEN '${rareText}' ELSE 'PO-X' || i END)`,
}

/** The same in the record's text: pairs of the model's text and its replacement. */
const inDocument: readonly [model: string, own: string][] = [
  [`'"title":' || to_json(s.title)`, `'"title":' || to_json(t.title)`],
  [`'"created_at":' || ${iso('s.created_at')}`, `'"created_at":' || ${iso('t.created_at')}`],
  [`'"updated_at":' || ${iso('s.updated_at')}`, `'"updated_at":' || ${iso('t.updated_at')}`],
  [
    `'"expected_close_date":' || to_json(s.expected_close_date)`,
    `'"expected_close_date":' || to_json(t.expected_close_date)`,
  ],
  [amount('deal_value', 's'), amount('deal_value', 't')],
]

function iso(column: string): string {
  return `to_json(to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`
}

function amount(field: string, of: string): string {
  return `'"${field}":{"currency":' || s.${field}_currency || ',"currency_code":"' || s.${field}_currency_code || '","value":' || trim_scale(${of}.${field}_value)`
}

async function makeDeals(db: Database, from: number, to: number, count: number): Promise<void> {
  const [row] = await db.query(
    "SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns WHERE table_schema = 'public' " +
      "AND table_name = 'deal' AND column_name NOT IN ('account_id', 'id', 'document')",
  )
  const names = row!.names!.split(', ')
  const replaced = inDocument.reduce(
    (text, [model, own]) => `coalesce(replace(${text}, ${model}, ${own}), ${text})`,
    's.document',
  )
  const custom = `regexp_replace(${replaced}, ',"cf_custom_text_field":"[^"]*"', '') || ',"cf_custom_text_field":' || (t.custom -> 'cf_custom_text_field')`
  await db.query(
    `INSERT INTO deal (account_id, id, document, ${names.join(', ')})
     SELECT 1, 1000 + i, ${custom}, ${names.map(name => (name.replaceAll('"', '') in own ? `t.${name}` : `s.${name}`)).join(', ')}
     FROM (SELECT $3::bigint AS count, $3::bigint / 20 AS twentieth, date_trunc('day', now()) AS now) p
     CROSS JOIN generate_series($1::bigint, $2::bigint - 1) i
     JOIN (SELECT *, row_number() OVER (ORDER BY id) - 1 AS n FROM deal WHERE account_id = 1 AND id < 1000) s ON s.n = i * 31 % 300
     CROSS JOIN LATERAL (SELECT ${Object.entries(own)
       .map(([column, sql]) => `${sql} AS ${column}`)
       .join(', ')}) t
     ON CONFLICT DO NOTHING`,
    [String(from), String(to), String(count)],
  )
}

/** Checks that the records' texts agree with their columns. */
async function check(db: Database): Promise<void> {
  const [row] = await db.query(
    `SELECT count(*)::text AS wrong FROM (SELECT r.*, ('{' || document || '}')::jsonb AS d FROM deal r WHERE account_id = 1 AND id >= 1000 ORDER BY id DESC LIMIT 1000) r
     WHERE d->>'title' <> title OR (d->>'created_at')::timestamptz <> created_at OR (d->>'updated_at')::timestamptz <> updated_at
       OR (d->>'expected_close_date')::date IS DISTINCT FROM expected_close_date OR (d#>>'{deal_value,value}')::numeric IS DISTINCT FROM deal_value_value
       OR d->>'cf_custom_text_field' <> custom->>'cf_custom_text_field'`,
  )
  if (row!.wrong !== '0')
    throw new Error(`${row!.wrong} of 1000 deals have a text that differs from their columns`)
}
