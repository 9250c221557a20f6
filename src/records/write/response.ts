/**
 * The response to a write, from the row that it returns, as its author may see it. A replayed one (D8)
 * follows the caller's current rights (D63 to D65): it omits fields that the role hides now, and has only the
 * id of a record that the caller no longer sees.
 */
import type { Problem, ProblemCode } from '../../errors.ts'
import type { Catalog, ResourceSchema } from '../../fields/catalog.ts'
import type { Field } from '../../fields/field.ts'
import { callerParamsOf, isLimited, visible } from '../../rights/visibility.ts'
import { ask, sql } from '../../sql.ts'
import { storedResponse, type Written } from '../idempotency.ts'
import { isHiddenByRole, renderSaved } from '../rendered-record.ts'
import { tableOf } from '../store.ts'
import type { ReadWork, Work } from '../work.ts'
import type { Saved } from './operation.ts'

/**
 * The response to a write, without the record. A record that was created with it has its `id`; or its id is
 * the `nth` after the account's last one before the write, which the row has as `first_id`. Stored responses
 * have that name.
 */
export type WriteResponse = Pick<Saved, 'warnings' | 'isNew' | 'isUnchanged'> & {
  readonly created: readonly { readonly resource: string; readonly id?: number; readonly nth?: number }[]
}

/** Replays the record that the same request saved earlier (D8); null if there is none. */
export async function findIdempotentResponse(work: Work): Promise<Saved | null> {
  const written = await storedResponse<WriteResponse>(work.db, work.context)
  return written && (await renderReplay(work, [storedOf(written)]))[0]!
}

/** The saved record as its author may see it. */
export function savedOf({ schema, context }: Work, written: Written<WriteResponse>): Saved {
  const saved = storedOf(written)
  return { ...saved, record: renderSaved(schema, context, saved) }
}

/** The saved record as it is stored. */
function storedOf({ row, response }: Written<WriteResponse>): Saved {
  const created = response.created.map(({ resource, id, nth }) => ({
    resource,
    id: id ?? Number(row.first_id) + nth!,
  }))
  return { id: Number(row.id), version: Number(row.version), record: row.record!, ...response, created }
}

/** Replays saved records. Those deleted since then have the text that was saved. */
export async function renderReplay(work: ReadWork, saved: readonly Saved[]): Promise<Saved[]> {
  const { schema, context } = work
  const unseen = await unseenOf(work, saved)
  return saved.map(one => ({
    ...one,
    record: unseen.has(one.id) ? JSON.stringify({ id: one.id }) : renderSaved(schema, context, one),
    warnings: one.warnings.filter(warning => !isAboutHidden(schema, context.catalog, warning)),
  }))
}

/** Messages in place of those that count or name records, which their reader may not see. */
const withoutRecords: { readonly [code in ProblemCode]?: (message: string) => string } = {
  in_use: () => 'Other records point to it.',
  not_visible_to: () => 'It mentions a person who may not see it.',
  // Digits before that may be of the name itself.
  ambiguous_reference: message => message.replace(/(?:more than )?\d+(?= [a-z ]+; [a-z ]+\.$)/, 'several'),
}

/**
 * A problem of an earlier response; null if it would name a field that is hidden now. Further members, such
 * as current values and candidates, are outdated and left out.
 */
export function replayedProblem(
  { schema, context: { catalog } }: Omit<ReadWork, 'db'>,
  problem: Problem,
): Problem | null {
  const { field, path, code, rule, hint } = problem
  // Without a count, a reason why the record itself can't be deleted.
  const isReason = code === 'in_use' && problem.count === undefined
  const message = (isReason ? null : withoutRecords[code]?.(problem.message)) ?? problem.message
  if (isAboutHidden(schema, catalog, { field, path })) return null
  // A hint may name any field.
  const isHinted = hint !== undefined && schema.byName === schema.whole.byName
  const more = { ...(rule === undefined ? {} : { rule }), ...(isHinted ? { hint } : {}) }
  return { field, path, code, message, ...more }
}

/** The ids of the records that the caller does not see. */
async function unseenOf({ db, schema, context }: ReadWork, saved: readonly Saved[]): Promise<Set<number>> {
  const unseen = new Set(isLimited(schema) ? saved.map(({ id }) => id) : [])
  if (unseen.size === 0) return unseen
  const statement = sql`SELECT r.id::text AS id FROM ${tableOf(schema)} r
WHERE ${visible(schema.resource.name, callerParamsOf(context), sql`r`)} AND r.id = ANY(${`{${[...unseen].join()}}`}::bigint[])`
  const seen = await ask(db, statement)
  for (const { id } of seen) unseen.delete(Number(id))
  return unseen
}

/** True if a warning or a problem is about a field that the role hides, of the record or of a nested one. */
export function isAboutHidden(
  schema: ResourceSchema,
  { resources }: Catalog,
  { field, path = '' }: { readonly field: string | null; readonly path?: string },
): boolean {
  if (path === '') return field !== null && isHiddenByRole(schema, field)
  let record: ResourceSchema | undefined = schema
  for (const name of path.split('/').filter(step => !/^\d*$/.test(step))) {
    if (!record) return false
    if (isHiddenByRole(record, name)) return true
    const found: Field | undefined = record.byName.get(name)
    // A member that is no field, such as find_by, is of the same record.
    if (found) record = resources.get(found.related ?? '')
  }
  return false
}
