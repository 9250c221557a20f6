/**
 * An embedded engine that the test files of one process use one after the other (test/lane.ts), because
 * opening one takes seconds. Each file finds the database as of a first start: all rows are restored, and an
 * engine whose schema was changed is not used again.
 */
import { type Database, openDatabase } from '../../src/db/open.ts'
import { isLane, share } from './ends.ts'
import { timeouts } from './timeouts.ts'

export type Borrowed = { readonly db: Database; giveBack(): Promise<void> }

type Shared = {
  readonly template: string
  readonly db: Database
  readonly schema: string
  log: (line: string) => void
}

/** the engines that are not in use */
const idle: Shared[] = []
if (isLane) share({ end: () => Promise.all(idle.map(({ db }) => db.close())) })

/** A database with the rows of `template`; `log` takes its log lines. */
export async function borrow(template: string, log: (line: string) => void): Promise<Borrowed> {
  const shared = (await cleaned(template)) ?? (await opened(template))
  shared.log = log
  return {
    db: shared.db,
    async giveBack() {
      if (isLane) idle.push(shared)
      else await shared.db.close()
    },
  }
}

async function opened(template: string): Promise<Shared> {
  let shared: Shared | undefined
  const db = await openDatabase({ template, ...timeouts(), log: line => shared?.log(line) })
  shared = { template, db, schema: await schemaOf(db), log: () => {} }
  return shared
}

/** Resets an idle engine of the template to its initial rows; undefined without one of the same schema. */
async function cleaned(template: string): Promise<Shared | undefined> {
  const place = idle.findIndex(one => one.template === template)
  if (place < 0) return undefined
  const [shared] = idle.splice(place, 1) as [Shared]
  const { db, schema } = shared
  await db.sql.query(dropNewIndexes)
  if ((await schemaOf(db)) === schema) {
    await restoreRows(db)
    return shared
  }
  await db.close()
  return undefined
}

/** Snapshots the current rows, and the names of the indexes, for later files. */
export async function keepRows(db: Database): Promise<void> {
  await db.sql.query('CREATE SCHEMA kept')
  await db.sql.query(`CREATE TABLE kept.index_names AS
    SELECT indexname FROM pg_indexes WHERE schemaname = 'public'`)
  const restored: string[] = []
  for (const table of await tablesOf(db)) {
    await db.sql.query(`CREATE TABLE kept.${table} AS
      SELECT ctid AS kept_place, xmin AS kept_transaction, * FROM public.${table}`)
    restored.push(restoredTable(table, await columnsOf(db, table)))
  }
  await db.sql.query(`CREATE FUNCTION kept.restore_rows() RETURNS SETOF text LANGUAGE plpgsql
    SET session_replication_role = replica AS $$
  DECLARE
    old record;
    new record;
    removed bigint;
  BEGIN
    ${restored.join('\n')}
  END $$`)
}

/**
 * Statements that restore a table. A row of another place or transaction is another row, and only such rows
 * are written: TRUNCATE would cost more, and every statement of the next file would be planned anew. The
 * function then returns the name of the table if it is to be vacuumed.
 */
function restoredTable(table: string, columns: readonly string[]): string {
  const isKept = 'k.kept_place = r.ctid AND k.kept_transaction = r.xmin'
  return `
    DELETE FROM public.${table} r WHERE NOT EXISTS (SELECT 1 FROM kept.${table} k WHERE ${isKept});
    GET DIAGNOSTICS removed = ROW_COUNT;
    FOR old IN
      SELECT k.*, k.ctid AS row FROM kept.${table} k
      WHERE NOT EXISTS (SELECT 1 FROM public.${table} r WHERE ${isKept})
    LOOP
      INSERT INTO public.${table} (${columns}) VALUES (${columns.map(column => `old.${column}`)})
        RETURNING ctid AS place, xmin AS transaction INTO new;
      UPDATE kept.${table} SET kept_place = new.place, kept_transaction = new.transaction
        WHERE ctid = old.row;
    END LOOP;
    IF removed > 500 THEN RETURN NEXT '${table}'; END IF;`
}

async function columnsOf(db: Database, table: string): Promise<string[]> {
  const rows = await db.query(
    `SELECT quote_ident(attname) AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [`public.${table}`],
  )
  return rows.map(({ name }) => name!)
}

/** Custom fields get indexes of their own. */
const dropNewIndexes = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT indexname FROM pg_indexes WHERE schemaname = 'public'
    AND indexname NOT IN (SELECT indexname FROM kept.index_names)
  LOOP EXECUTE format('DROP INDEX public.%I', name); END LOOP;
END $$`

/** Restores the snapshot. The function's setting suspends foreign keys, so that no order matters. */
async function restoreRows(db: Database): Promise<void> {
  const emptied = await db.queryWithoutTimeLimit('SELECT * FROM kept.restore_rows() AS name')
  for (const { name } of emptied) await db.sql.query(`VACUUM public.${name}`)
}

async function tablesOf(db: Database): Promise<string[]> {
  const rows = await db.query(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  )
  return rows.map(({ name }) => name!)
}

/** A text that differs between schemas. */
async function schemaOf(db: Database): Promise<string> {
  const [row] = await db.query(`SELECT md5(string_agg(line, E'\\n' ORDER BY line)) AS schema FROM (
    SELECT concat_ws(' ', c.relname, c.relkind, a.attname, a.atttypid::regtype, a.attnotnull, a.attnum) AS line
    FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    WHERE c.relnamespace = 'public'::regnamespace
    UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc
      WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT concat(conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace) x`)
  return row!.schema!
}
