/**
 * A step of an import (D80): the next rows of its file become records, in one transaction. Under the
 * account's lock (D165) it first finds or creates the contacts and companies that rows name, many at a time;
 * then it writes the rows as a batch.
 */
import { type Problem, Refusal } from '../../errors.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { Values } from '../../fields/field.ts'
import { isNumber, isObject, isSameJson, type Json, type JsonObject } from '../../json.ts'
import { FoundRecords } from '../../records/references.ts'
import { holdersSelect } from '../../records/unique.ts'
import { targetByKey } from '../../records/unique-key.ts'
import type { Work } from '../../records/work.ts'
import { carryOutLocked } from '../../records/write/batch.ts'
import type { Operation, Outcome, Saved, UniqueKey, WriteContext } from '../../records/write/operation.ts'
import { lockLatest } from '../../records/write/protocol.ts'
import { ask } from '../../sql.ts'
import { memoize } from '../../waiting/memoize.ts'
import { mapYielding } from '../../waiting/yielding.ts'
import type { Counts, Job, Refused, Step, StepWork } from '../jobs/job.ts'
import { refusedAt } from '../jobs/refused.ts'
import { closedStageOf } from './closing.ts'
import { type Converted, converter } from './convert.ts'
import { dropOutOfPlace, fillerOf } from './defaults.ts'
import { onto } from './entries.ts'
import { countsOf, inactiveUsersOf } from './inactive-users.ts'
import { canTell, type ImportPlan, planOf, requireTargets, untold } from './plan.ts'
import { type Lost, linkRelated, type Named, namedIn } from './related.ts'
import { Formers } from './replaced.ts'
import { readRows, type StoredRow } from './rows.ts'
import { keptFields, placesOf } from './targets.ts'
import { columnOf, refusedUnread, type Unread } from './unread.ts'

/** Maximum number of contacts and companies named by the rows of a step: each may have to be created. */
const namedMax = 1500

type Importing = Work & { readonly job: Job; readonly plan: ImportPlan }

/** The result of a step, and the refused rows for which a contact or company was created nonetheless. */
export type ImportStep = Step & { readonly retryIndividually: readonly number[] }

/**
 * Imports the next rows. A refused row is reported, and the others go on. The named records of rows at the
 * places `individually` are created with their row or not at all; that is slower than creating them in bulk.
 */
export async function importStep(
  { db, job, oldest, count, ...given }: StepWork,
  individually: ReadonlySet<number>,
): Promise<ImportStep> {
  const judging: WriteContext = { ...given.context, overrides: keptFields, found: new FoundRecords() }
  const plan = planOf(job)
  const schema = importedSchema(given.schema)
  if (!canTell(schema, plan.duplicates)) throw new Refusal('wrong_state', untold)
  requireTargets(plan, placesOf(judging.catalog, schema))
  const begun: Importing = { db, job, plan, schema, context: judging }
  await lockLatest(db, judging)
  const { rows, bodies, named } = await nextRows(begun, count)
  const good = bodies.flatMap(one => ('told' in one ? [one] : []))
  const unread = bodies.flatMap(one => ('unread' in one ? [one] : []))
  const inactive = await inactiveUsersOf(begun, [...good, ...unread])
  const importing: Importing = { ...begun, context: { ...judging, allowedInactive: inactive } }
  const refused = bodies.flatMap(one => ('refused' in one ? [one.refused] : []))
  refused.push(...(await refusedUnread(importing, unread)))
  const formers = new Formers()
  const { operations, skipped } = await operationsOf(importing, good, formers)
  const linked = new Set(operations.map(({ place }) => place).filter(place => !individually.has(place)))
  const toLink = named.filter(({ row }) => linked.has(row))
  const { made: related, lost } = await linkRelated(importing, toLink, oldest)
  const asked = operations.map(({ operation }) => operation)
  const outcomes = await carryOutLocked(importing, asked, oldest)
  const placed = outcomes.map((outcome, index) => ({ ...operations[index]!, outcome }))
  const imported = new Set(placed.flatMap(({ place, outcome }) => ('saved' in outcome ? [place] : [])))
  const lines = new Map(rows.map(({ place, line }) => [place, line]))
  const counts = { created: 0, updated: 0, unchanged: 0, skipped }
  for (const { place, operation, outcome } of placed) {
    if ('saved' in outcome) counts[resultOf(outcome.saved)]++
    else if (!('refusal' in outcome) || isDouble(outcome, plan)) counts.skipped++
    else refused.push(refusedAt(place, outcome.refusal, whereIn(importing, lines.get(place)!, operation)))
  }
  const used = good.filter(({ place }) => imported.has(place))
  const position = rows.at(-1)?.place ?? job.position
  // A dry run would create the same records again in the next step.
  const made: Partial<Counts> = job.phase === 'run' ? { related: related.length } : {}
  return {
    position,
    done: rows.length,
    counts: {
      ...{ ...counts, ...made, refused: refused.length },
      not_taken: notTakenIn(importing, lost, imported),
      replaced: byColumn(importing, await formers.gone(importing, imported)),
      users_out_of_use: countsOf(inactive, used, schema, Object.keys(job.counts.users_out_of_use)),
    },
    problems: refused,
    isEnd: rows.length === 0 || position === job.total,
    retryIndividually: related.filter(places => !places.some(place => imported.has(place))).flat(),
  }
}

/** The place of a problem in the file, and a hint for an ambiguous name. */
function whereIn({ job, plan }: Importing, line: number, { op, body }: Operation) {
  // In a merged list the record's entries come before the row's.
  const made = op === 'create' ? body : null
  return (problem: Problem) => {
    const [, own] = problem.path.split('/')
    const hint = `Write the id of the one that is meant, in a column that is called "${own}".`
    const isOfSeveral = problem.code === 'ambiguous_reference'
    return { ...columnOf(job, plan, problem, made), line, ...(isOfSeveral && { hint }) }
  }
}

/** Number of values of imported rows that linked records did not get, by the column of the file. */
function notTakenIn(
  { job, plan }: Importing,
  lost: readonly Lost[],
  imported: ReadonlySet<number>,
): Counts['not_taken'] {
  const found = lost.filter(({ row }) => imported.has(row))
  const columnFor = ({ own, member }: Lost) =>
    String(columnOf(job, plan, { field: null, path: `/${own}/${member}` }).column ?? `${own}.${member}`)
  return Object.fromEntries([...Map.groupBy(found, columnFor)].map(([column, all]) => [column, all.length]))
}

/** Counts by field → counts by the columns that are mapped to them. */
function byColumn({ job, plan }: Importing, counts: ReadonlyMap<string, number>): Counts['replaced'] {
  const columnFor = (field: string) =>
    String(columnOf(job, plan, { field, path: `/${field}` }).column ?? field)
  return Object.fromEntries([...counts].map(([field, count]) => [columnFor(field), count]))
}

function resultOf({ isNew, isUnchanged }: Saved): 'created' | 'updated' | 'unchanged' {
  if (isNew) return 'created'
  return isUnchanged ? 'unchanged' : 'updated'
}

/** Rows as bodies of records, and the other records that they name. */
type Rows = { rows: readonly StoredRow[]; bodies: readonly Body[]; named: readonly Named[] }

/** The next rows of the file, `count` or fewer. */
async function nextRows(importing: Importing, count: number): Promise<Rows> {
  const { db, job } = importing
  const rows = await readRows(db, job, job.position, count)
  const names = (job.columns ?? []).map(({ name }) => String(name))
  const updated = await updatedBy(importing, rows, names)
  return notTooMany(importing, rows, await bodiesOf(importing, rows, names, updated))
}

/** The first rows, as many as name no more records than a step may create. */
function notTooMany(work: Work, rows: readonly StoredRow[], bodies: readonly Body[]): Rows {
  const named: Named[] = []
  for (const [index, one] of bodies.entries()) {
    const own = 'told' in one ? namedIn(work, one.place, one.body) : []
    if (index > 0 && named.length + own.length > namedMax)
      return { rows: rows.slice(0, index), bodies: bodies.slice(0, index), named }
    // A row with more is refused: no field takes so many.
    if (own.length <= namedMax) named.push(...own)
  }
  return { rows, bodies, named }
}

type RowContent = Pick<Converted, 'body' | 'told' | 'derived' | 'closedBy'>
type Read = RowContent & {
  readonly place: number
  /** the row without the values for all rows, which a record that exists does not get */
  readonly own: () => RowContent
}
type Body = Read | Unread | { readonly refused: Refused }

/** The places of rows whose record exists: its values take precedence over a value for all rows. */
async function updatedBy(
  importing: Importing,
  rows: readonly StoredRow[],
  names: readonly string[],
): Promise<ReadonlySet<number>> {
  const { plan, schema, context } = importing
  const { by, action } = plan.duplicates
  if (by === null || action !== 'update' || Object.keys(plan.defaults ?? {}).length === 0) return new Set()
  // Of these rows only the key is needed yet.
  const mapping = plan.mapping.filter(({ field }) => field === by || field.startsWith(`${by}.`))
  const convert = converter(context.catalog, schema, { ...plan, mapping }, names)
  const told = await mapYielding(rows, ({ cells }) => toldIn(schema, by, convert(cells).body))
  const there = await held(importing, told)
  return new Set(rows.filter((_, index) => there.has(told[index]!)).map(({ place }) => place))
}

/** `updated`: the places of rows that get no values for all rows. */
async function bodiesOf(
  { plan, schema, context: { catalog } }: Importing,
  rows: readonly StoredRow[],
  names: readonly string[],
  updated: ReadonlySet<number>,
): Promise<Body[]> {
  const filler = fillerOf(plan, names)
  const convert = converter(catalog, schema, { ...plan, mapping: filler.mapping }, filler.names)
  const now = new Date().toISOString()
  return mapYielding(rows, ({ place, line, cells, problem }): Body => {
    const wrong = (message: string) => ({
      refused: refusedAt(place, { slug: 'validation_failed', message, problems: [] }, () => ({ line })),
    })
    if (problem) return wrong(problem)
    const filled = updated.has(place) ? { cells, used: [] } : filler.fill(cells)
    const { body, kept, problems, ...said } = convert(filled.cells)
    dropOutOfPlace(body, filled.used, catalog)
    if (problems.length) return { place, line, body: { ...body, ...kept }, unread: problems }
    const late = Object.entries(kept).find(
      ([name, value]) => name !== 'created_by' && typeof value === 'string' && value > now,
    )
    if (late) return wrong(`${late[0]} is in the future.`)
    const whole = { ...said, body: { ...body, ...kept } }
    const own = () => withoutFilled(whole.body, convert(filled.cells), convert(cells))
    return { ...whole, place, own: filled.used.length ? own : () => whole }
  })
}

/** A row as it says itself. In its body with the values for all rows, names may be ids by now: these stay. */
function withoutFilled(body: JsonObject, filled: Converted, own: Converted): RowContent {
  const [all, without] = [filled, own].map(one => ({ ...one.body, ...one.kept })) as [JsonObject, JsonObject]
  const entries = Object.entries(without).map(([name, value]): [string, Json] => [
    name,
    isSameJson(value, all[name] ?? null) ? (body[name] ?? null) : value,
  ])
  return { ...own, body: Object.fromEntries(entries) }
}

type Placed = { readonly place: number; readonly operation: Operation }

/** The operations of the rows, without those whose record exists and is skipped. */
async function operationsOf(
  importing: Importing,
  bodies: readonly Read[],
  formers: Formers,
): Promise<{ operations: Placed[]; skipped: number }> {
  const { plan, schema, context } = importing
  const { by, action } = plan.duplicates
  const told = bodies.map(({ body }) =>
    by === null || action === 'create' ? null : toldIn(schema, by, body),
  )
  const there = action === 'skip' ? await held(importing, told) : new Set<UniqueKey>()
  const operations = bodies.flatMap((said, index): Placed[] => {
    const { place, body } = said
    const one = told[index]!
    if (one && there.has(one)) return []
    const isUpsert = one !== null && action === 'update'
    const what = { id: null, key: isUpsert ? one : null, precondition: null, body }
    // An earlier row of the step may have created the record.
    const bodyOn = (before: Values) => {
      const { closedBy, ...own } = said.own()
      const stage = closedBy && closedStageOf(before, closedBy, context.catalog)
      const row = stage ? { ...own, body: { ...own.body, pipeline_stage: stage } } : own
      formers.note(place, before, row)
      return onto(row, before, context.catalog)
    }
    return [{ place, operation: { op: isUpsert ? 'upsert' : 'create', ...what, bodyOn } }]
  })
  return { operations, skipped: bodies.length - operations.length }
}

/** The unique key of a row's record; null if the row has no usable value. */
function toldIn(schema: ResourceSchema, by: string, body: JsonObject): UniqueKey | null {
  const [first = null] = [body[by] ?? null].flat() as Json[]
  const value = isObject(first) ? (first.email_value ?? null) : first
  return typeof value === 'string' || isNumber(value) ? targetByKey(schema, by, value).key : null
}

/** The keys that records have. */
async function held(work: Work, told: readonly (UniqueKey | null)[]): Promise<Set<UniqueKey>> {
  const all = told.filter(one => one !== null)
  const [first] = all
  if (!first) return new Set()
  const texts = all.map(({ text }) => text)
  const rows = await ask(work.db, holdersSelect(work, first.field, texts))
  return new Set(rows.map(({ place }) => all[Number(place) - 1]!))
}

/** True if a row was refused only because an earlier row created its record. */
function isDouble(outcome: Outcome, { duplicates: { by, action } }: ImportPlan): boolean {
  if (action !== 'skip' || !('refusal' in outcome)) return false
  const { slug, problems } = outcome.refusal
  return slug === 'duplicate' && problems.some(({ field }) => field === by)
}

/** The fields of a resource, with those writable that a moved record keeps. */
export const importedSchema = memoize((schema: ResourceSchema): ResourceSchema => {
  const opened = schema.fields.map(field =>
    keptFields.includes(field.internal_name) ? { ...field, is_read_only: false } : field,
  )
  return { ...schema, fields: opened, byName: new Map(opened.map(field => [field.internal_name, field])) }
})
