/** Carries out the bulk writes and bulk deletions of a batch, each with one statement (D78). */
import type { ResourceSchema } from '../fields/catalog.ts'
import { ask, param, sql } from '../sql.ts'
import type { Outcome } from './batch.ts'
import { createdOf, namedFrom } from './nested.ts'
import { removeTogether } from './remove-many.ts'
import { authorOf, type Saved, savedOf, type WriteContext } from './save.ts'
import type { Transaction } from './store.ts'
import type { Ready, Unplaced, Written } from './together.ts'
import { carryOut, statementOf, writing } from './write.ts'
import { type DraftOfMany, writeOfMany } from './write-many.ts'

type Row = Readonly<Record<string, string | null>>

/**
 * Carries out operations of one kind with one statement; null if one of them fails, and then none is done.
 */
export async function carryOutTogether(
  db: Transaction,
  schema: ResourceSchema,
  all: readonly Ready[],
  context: WriteContext,
): Promise<Outcome[] | null> {
  const ids = all.flatMap(one => ('removed' in one ? [one.removed] : []))
  if (ids.length > 0)
    return (await removeTogether(db, schema, ids, context)) ? ids.map(id => ({ deleted: id })) : null
  const saved = await writeTogether(db, schema, all as readonly Written[], context)
  return saved?.map(one => ({ saved: one })) ?? null
}

async function writeTogether(
  db: Transaction,
  schema: ResourceSchema,
  all: readonly Written[],
  context: WriteContext,
): Promise<Saved[] | null> {
  const ready = all.flatMap(one => ('draft' in one ? [one.draft] : []))
  const drafts = await placed(db, schema, ready, context)
  const rows = drafts.length ? await written(db, schema, drafts, context) : []
  if (rows === null) return null
  const byId = new Map(rows.map(row => [Number(row.id), row]))
  let place = 0
  return all.map(one => {
    if ('unchanged' in one) {
      const response = { warnings: one.warnings, created: [], isUnchanged: true }
      return savedOf(schema, context, { row: one.unchanged, response })
    }
    const { id, read, within } = drafts[place++]!
    const response = { warnings: one.warnings, created: createdOf(within), ...(read ? {} : { isNew: true }) }
    return savedOf(schema, context, { row: byId.get(id)!, response })
  })
}

/**
 * The drafts with their ids: the account's next ones, in the order of single writes. The caller has the
 * account's lock, so nobody else takes these ids.
 */
async function placed(
  db: Transaction,
  schema: ResourceSchema,
  ready: readonly Unplaced[],
  { catalog, actor }: WriteContext,
): Promise<DraftOfMany[]> {
  if (ready.length === 0) return []
  const account = param(String(catalog.account.id))
  const [row] = await ask(
    db,
    sql`SELECT last_id::text AS last FROM counter WHERE account_id = ${account}::bigint`,
  )
  let last = Number(row!.last)
  return ready.map(({ nested, read, ...draft }) => {
    const { all: within, named } = namedFrom(last + 1, nested, actor)
    last += within.length
    const id = read?.id ?? ++last
    if (within.length === 0) return { ...draft, id, read, within }
    const after = named(schema, draft.after)
    const changes = Object.fromEntries(
      Object.entries(draft.changes).map(([name, { before }]) => [
        name,
        { before, after: after[name] ?? null },
      ]),
    )
    return { ...draft, after, changes, id, read, within }
  })
}

async function written(
  db: Transaction,
  schema: ResourceSchema,
  drafts: readonly DraftOfMany[],
  context: WriteContext,
): Promise<readonly Row[] | null> {
  const params = authorOf(context)
  const statement = statementOf(writing(params, writeOfMany(params, schema, drafts, context.unread)))
  const rows = await carryOut(db, params.account, statement).catch(error => {
    if (String((error as { code?: unknown }).code).startsWith('23')) return null
    throw error
  })
  if (rows && rows.length !== drafts.length)
    throw new Error('Records changed under the lock of their account')
  return rows
}
