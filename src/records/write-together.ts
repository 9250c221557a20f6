/** What a batch carries out with one statement (D78): records that are written, or deleted. */
import type { ResourceFields } from '../fields/catalog.ts'
import type { Outcome } from './batch.ts'
import { removeTogether } from './remove-many.ts'
import { authorOf, type Context, type Saved, savedOf } from './save.ts'
import type { Queryable } from './store.ts'
import type { Ready, Written } from './together.ts'
import { carryOut, statementOf, writing } from './write.ts'
import { type DraftOfMany, writeOfMany } from './write-many.ts'

type Row = Readonly<Record<string, string | null>>

/**
 * Carries them out with one statement, all of one kind; null where one of them can't be, and then none is.
 */
export async function carryOutTogether(
  db: Queryable,
  fields: ResourceFields,
  all: readonly Ready[],
  context: Context,
): Promise<Outcome[] | null> {
  const ids = all.flatMap(one => ('removed' in one ? [one.removed] : []))
  if (ids.length > 0)
    return (await removeTogether(db, fields, ids, context)) ? ids.map(id => ({ deleted: id })) : null
  const saved = await writeTogether(db, fields, all as readonly Written[], context)
  return saved?.map(one => ({ saved: one })) ?? null
}

async function writeTogether(
  db: Queryable,
  fields: ResourceFields,
  all: readonly Written[],
  context: Context,
): Promise<Saved[] | null> {
  const drafts = all.flatMap(one => ('draft' in one ? [one.draft] : []))
  const rows = drafts.length ? await written(db, fields, drafts, context) : []
  if (rows === null) return null
  const changed = new Set(drafts.flatMap(({ read }) => (read ? [String(read.id)] : [])))
  const byId = new Map(rows.map(row => [row.id!, row]))
  const made = rows
    .filter(row => !changed.has(row.id!))
    .sort((one, other) => Number(one.id) - Number(other.id))
  return all.map(one => {
    const isNew = 'draft' in one && one.draft.read === null
    const row = isNew ? made.shift()! : 'draft' in one ? byId.get(String(one.draft.read!.id))! : one.unchanged
    const is = { ...(isNew ? { isNew } : {}), ...('unchanged' in one ? { isUnchanged: true } : {}) }
    const response = { warnings: one.warnings, created: [], ...is }
    return savedOf(fields, context, { row, response })
  })
}

async function written(
  db: Queryable,
  fields: ResourceFields,
  drafts: readonly DraftOfMany[],
  context: Context,
): Promise<readonly Row[] | null> {
  const by = authorOf(context)
  const statement = statementOf(writing(by, writeOfMany(by, fields, drafts, context.unread)))
  const rows = await carryOut(db, by.account, statement).catch(error => {
    if (String((error as { code?: unknown }).code).startsWith('23')) return null
    throw error
  })
  if (rows && rows.length !== drafts.length)
    throw new Error('Records changed under the lock of their account')
  return rows
}
