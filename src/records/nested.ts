/**
 * Nested records: records created with another (D11). Their ids are reserved before anything is saved, so
 * that the record and they can name each other in their texts. One statement then writes all of them.
 */
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import type { Json } from '../json.ts'
import { visible } from '../rights/visibility.ts'
import { type Sql, sql } from '../sql.ts'
import type { Sought } from './find-by.ts'
import { hasName } from './names.ts'
import type { Parsed } from './parse.ts'
import { authoredBy, blank, changesOf, type WriteContext } from './save.ts'
import { createdEvent, insertedRow, type RecordToWrite, type Transaction } from './store.ts'
import { insertedKeys } from './unique.ts'
import { reserveIds, type Write } from './write.ts'

/** The parts of a write that create the nested records. */
export type NestedRecords = {
  /** their rows, and their events, which come before the record's */
  write(params: WriteParams): Required<Pick<Write, 'rows' | 'events'>>
  /** conditions of the write: the `find_by` lookups still match nothing */
  absent(params: WriteParams): Sql[]
  /** True if the write needs a snapshot taken under the account's lock */
  readonly isSought: boolean
  readonly created: readonly { readonly resource: string; readonly id: number }[]
  /** A record's values with ids in place of the stand-ins. */
  named(schema: ResourceSchema, values: Values): Values
}

const none: NestedRecords = {
  write: () => ({ rows: [], events: [] }),
  absent: () => [],
  isSought: false,
  created: [],
  named: (_fields, values) => values,
}

/**
 * Reserves ids for the nested records of a body. Call it only for a body without problems: reserved ids are
 * lost if nothing is saved.
 */
export async function nestedRecords(
  db: Transaction,
  { nested }: Parsed,
  { catalog, actor }: WriteContext,
): Promise<NestedRecords> {
  if (nested.length === 0) return none
  const first = await reserveIds(db, catalog.account.id, 'last_id', nested.length)
  const { all, named } = namedFrom(first, nested, actor)
  const records = all.map((one, index) => ({ ...one, name: sql.id(`nested${index}`) }))
  return {
    write: params => ({
      rows: records.flatMap(({ schema, draft, id, name }, index) => {
        const given = sql`${String(id)}::bigint`
        return [
          insertedRow(name, schema, params, given, draft),
          ...insertedKeys(params, schema, name, draft, `keys${index}`),
        ]
      }),
      events: records.map(({ schema, draft, name }) => createdEvent(schema, draft, name)),
    }),
    absent: params => nested.flatMap(({ schema, sought }) => isAbsent(params, schema, sought)),
    isSought: nested.some(({ sought }) => sought.field !== null),
    created: createdOf(all),
    named,
  }
}

/** A nested record with its id. */
export type NestedDraft = {
  readonly schema: ResourceSchema
  readonly draft: RecordToWrite
  readonly id: number
}

/**
 * The nested records of a body with the ids from `first` on, and the function that replaces the stand-ins.
 */
export function namedFrom(
  first: number,
  nested: Parsed['nested'],
  actor: number,
): { readonly all: readonly NestedDraft[]; readonly named: NestedRecords['named'] } {
  if (nested.length === 0) return { all: [], named: none.named }
  const ids = new Map(nested.map(({ stand_in }, index) => [stand_in, first + index]))
  const named: NestedRecords['named'] = ({ byName }, values) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]): [string, Json] => [
        name,
        byName.get(name)?.related ? idsIn(value, ids) : value,
      ]),
    )
  const all = nested.map(({ schema, parsed, stand_in }) => {
    const after = named(schema, { ...blank(schema), ...parsed.values, ...authoredBy(actor) })
    const draft = { after, changes: changesOf(schema, blank(schema), after) }
    return { schema, draft, id: ids.get(stand_in)! }
  })
  return { all, named }
}

/** The nested records as the response names them (D1). */
export function createdOf(all: readonly NestedDraft[]): NestedRecords['created'] {
  return all.map(({ schema, id }) => ({ resource: schema.resource.name, id }))
}

/** The condition that no record visible to the author matches the lookup. */
function isAbsent(
  params: WriteParams,
  { resource: { name } }: ResourceSchema,
  { field, texts }: Sought,
): Sql[] {
  if (!field) return []
  const names = sql`ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb))`
  const isLive = sql`${visible(name, params, sql`x`)} AND x.deleted_at IS NULL`
  return [
    sql`NOT EXISTS (
    SELECT 1 FROM ${sql.id(name)} x WHERE ${isLive} AND ${hasName(field, sql`x`, names)})`,
  ]
}

/** Stand-ins are whole numbers below zero, alone or in an array. No id is below zero. */
function idsIn(value: Json, ids: ReadonlyMap<number, number>): Json {
  if (Array.isArray(value))
    return value.map(item => (typeof item === 'number' ? (ids.get(item) ?? item) : item))
  return typeof value === 'number' ? (ids.get(value) ?? value) : value
}
