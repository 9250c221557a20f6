/**
 * Plans the rows of validated records: each record after those nested in it, with their keys, what follows in
 * other records, and their events. A record that is written alone has a step for each row; of many there is
 * one for each resource. Knows no particular resource.
 */
import type { Step, WriteParams } from '../../fields/caller-params.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { Values } from '../../fields/field.ts'
import { momentPlaceholder } from '../../fields/moment.ts'
import { type Sql, sql } from '../../sql.ts'
import { cascadeDelete } from '../cascade.ts'
import { isAbsent } from '../find-by.ts'
import { quotaConditions } from '../record-quota.ts'
import { renderedSql } from '../rendered-record.ts'
import { changedKeys, newKeys } from '../unique.ts'
import type { Work } from '../work.ts'
import { withRealIds } from './placeholders.ts'
import type { Event, Write } from './protocol.ts'
import {
  areAsRead,
  changesOfEach,
  changesSql,
  eventsOf,
  insertedRows,
  type Row,
  selectOfRows,
  updatedRows,
} from './rows.ts'
import { authorValues, blank, changesOf } from './rules.ts'
import type { ValidOperation } from './validate.ts'

type PlanOptions = {
  readonly isLocked?: boolean
  readonly lastId?: number | null
  readonly origins?: readonly WriteParams['origin'][]
}

/**
 * The write of these records. It writes nothing unless all stored ones are unchanged since they were read,
 * and all records exist to which they newly point. `isLocked`: both have been asked under the account's lock,
 * and are not asked again. `lastId`: the last id of the account; the nested records of several need it.
 * `origins`: those of the operations, if they were sent by several requests.
 */
export function planOf(
  work: Work,
  params: WriteParams,
  operations: readonly ValidOperation[],
  { isLocked = false, lastId = null, origins = operations.map(() => params.origin) }: PlanOptions = {},
): Write {
  const { schema, context } = work
  const { isConfiguration = false, updatesOthers, quota } = schema.resource
  const all = rowsOf(work, operations, lastId, origins)
  const groups = groupsOf(schema, all, operations.length > 1)
  const main = all.filter(row => row.schema === schema)
  const single = operations.length === 1 ? operations[0]! : null
  const further = single ? furtherSteps(params, schema, single) : none
  const nested = operations.flatMap(one => one.nested)
  const invariants = operations.flatMap(({ invariant }) => invariant ?? [])
  const stored = operations.flatMap(({ before }) => (before ? [before] : []))
  const isOwn = ({ rows: [row] }: Group) => row!.schema === schema
  const made = groups.filter(({ rows: [row] }) => !row!.read)
  const inserted = (group: Group): Step[] => [
    stepOf(params, group, insertedRows(group.rows)),
    ...newKeys(group.rows[0]!.schema, group.name),
  ]
  const changed = groups.filter(({ rows: [row] }) => row!.read)
  const r: Step[] = single ? [] : [{ name: 'r', rows: () => selectOfRows(params, main) }]
  return {
    references: isLocked ? [] : operations.flatMap(({ added }) => added),
    conditions: isLocked
      ? []
      : [
          ...nested.flatMap(({ schema, findBy }) => isAbsent(params, schema, findBy)),
          ...(single && !single.before ? quotaConditions(params.account, schema.resource, single.after) : []),
          ...invariants.map(({ condition }) => condition(params.account)),
        ],
    locksFirst:
      nested.some(({ findBy }) => findBy.field) ||
      invariants.length > 0 ||
      updatesOthers !== undefined ||
      (quota !== undefined && single?.before === null),
    updates: [
      ...changed.map(group => stepOf(params, group, updatedRows(params, group.rows))),
      ...further.updates,
    ],
    conditionsOfUpdates: () => (isLocked ? [] : changed.map(({ rows }) => areAsRead(params, rows))),
    ids: all.filter(({ read }) => !read).length,
    // Records point to those that are nested in them.
    referencedRows: made.filter(group => !isOwn(group)).flatMap(inserted),
    steps: [
      ...made.filter(isOwn).flatMap(inserted),
      ...r,
      ...further.steps,
      ...(updatesOthers?.(params, sql`r`, stored) ?? []),
    ],
    events: [...further.events, ...(single ? groups.map(eventOf) : [eventsOfAll(all)])],
    isConfiguration,
    answer:
      context.skipsRendering && !single && changed.length === 0
        ? returnedNewRows(main)
        : returnedRows(params, schema, context.skipsRendering, nested.length > 0 && lastId === null),
  }
}

/** Rows of one resource that a step writes, all of them new or none. */
type Group = { readonly name: string; readonly rows: readonly Row[] }

/**
 * The rows of each step: one row a step for a single record, which is the step `r`; else one step for the new
 * and one for the changed rows of each resource.
 */
function groupsOf(schema: ResourceSchema, all: readonly Row[], areMany: boolean): Group[] {
  if (!areMany) {
    const name = (row: Row, index: number) =>
      row.schema === schema && index === all.length - 1 ? 'r' : `made${index}`
    return all.map((row, index) => ({ name: name(row, index), rows: [row] }))
  }
  const nameOf = ({ schema, read }: Row) => `${read ? 'changed' : 'made'}_${schema.resource.name}`
  return [...Map.groupBy(all, nameOf)].map(([name, rows]) => ({ name, rows }))
}

function stepOf(params: WriteParams, { name, rows }: Group, change: Sql): Step {
  return { name, change, returning: sql`t.*`, rows: () => selectOfRows(params, rows) }
}

/** The rows of the records in their order, each after those nested in it. */
function rowsOf(
  { schema, context: { actor } }: Work,
  operations: readonly ValidOperation[],
  lastId: number | null,
  origins: readonly WriteParams['origin'][],
): Row[] {
  let count = 0
  return operations.flatMap(({ row, before, after, changes, nested }, index) => {
    const [first, origin] = [count, origins[index]!]
    const temporaryIds = lastId === null ? nested.length : 0
    // Of a record that is written alone, only its statement knows the ids: the temporary ones remain.
    const withIds = (schema: ResourceSchema, values: Values) =>
      lastId === null || nested.length === 0
        ? values
        : withRealIds(schema, values, nth => lastId + first + nth)
    const inner = nested.map(({ schema, ...one }): Row => {
      const after = withIds(schema, { ...one.after, ...authorValues(actor) })
      const changes = changesOf(schema, blank(schema), after)
      const aliases = schema.resource.aliases?.(null, after) ?? []
      return { schema, after, changes, read: null, nth: ++count, temporaryIds, aliases, origin }
    })
    const aliases = schema.resource.aliases?.(before, after) ?? []
    const saved = withIds(schema, after)
    return [
      ...inner,
      {
        ...{ schema, aliases, origin, temporaryIds, nth: row ? 0 : ++count },
        after: row ? { ...saved, updated_at: momentPlaceholder, updated_by: actor } : saved,
        changes: saved === after ? changes : changesOf(schema, before ?? blank(schema), saved),
        read: row && { id: Number(row.id), version: row.version!, state: row.state! },
      },
    ]
  })
}

const none = { updates: [], steps: [], events: [] } as const

/** The steps and events beside those of the rows of a record that is written alone. */
function furtherSteps(
  params: WriteParams,
  schema: ResourceSchema,
  { row, before, after, changes, operation: { options } }: ValidOperation,
): Required<Pick<Write, 'updates' | 'steps' | 'events'>> {
  const { actor, revokes = [] } = schema.resource
  const isEnded = actor && before?.is_active === 1 && after.is_active === 2
  const ended = isEnded ? cascadeDelete({ params, schema, id: Number(row!.id), parts: revokes }) : none
  return {
    updates: ended.updates,
    steps: [
      ...(before ? changedKeys(params, schema, { after, changes }) : []),
      ...(options?.steps?.(params) ?? []),
      ...(isEnded ? (actor?.endedAccess(params) ?? []) : []),
    ],
    events: ended.events,
  }
}

/** The event of a row that has a step of its own. */
function eventOf({ name, rows: [row] }: Group): Event {
  const { schema, read, aliases } = row!
  const { name: resource } = schema.resource
  const type = `${resource}.${read ? 'updated' : 'created'}`
  return { type, aliases, resource, of: sql.id(name), changes: changesSql(row!) }
}

function eventsOfAll(all: readonly Row[]): Event {
  return {
    ...{ type: sql`e.type`, aliases: sql`e.aliases`, resource: sql`e.resource`, changes: changesOfEach },
    ...{ request: sql`e.request`, trace: sql`e.trace` },
    of: eventsOf(all),
    count: all.length,
  }
}

/** The rows that a write returns. */
export function returnedRows(
  { account }: WriteParams,
  schema: ResourceSchema,
  skipsRendering = false,
  hasNested = false,
): Sql {
  const record = skipsRendering ? sql`'{}'` : renderedSql(schema, account)
  // Stored responses have that name (response.ts).
  const idBefore = hasNested ? sql`, (SELECT id_before FROM counted)::text AS first_id` : sql.none
  return sql`SELECT r.id::text AS id, r.version::text AS version, ${record} AS record${idBefore} FROM r`
}

/** Rows for a caller who ignores the new records: they are not read. */
function returnedNewRows(rows: readonly Row[]): Sql {
  const all = `{${rows.map(({ nth }) => nth).join()}}`
  return sql`SELECT (counted.id_before + n)::text AS id, '1' AS version, '{}' AS record
  FROM counted, unnest(${all}::bigint[]) n`
}
