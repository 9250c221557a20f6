/**
 * Records created with another (D11): they get their ids before anything is saved, so that the record, its
 * text and they themselves can name each other, and are then written by the one statement that writes it.
 */
import type { ResourceFields } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import { moment } from '../fields/moment.ts'
import type { Json } from '../json.ts'
import { documentOf } from './document.ts'
import type { Parsed } from './parse.ts'
import { blank, type Context, changesOf, columnParams, customParams } from './save.ts'
import { type Queryable, reserveRecordIds } from './store.ts'

/** What a write needs of the records made with it. */
export type NestedRecords = {
  readonly all: readonly ResourceFields[]
  /** the parameters of the statement, in its order */
  readonly params: readonly (string | null)[]
  readonly created: readonly { readonly resource: string; readonly id: number }[]
  /** A record's values with the ids in the place of what stood for them. */
  named(fields: ResourceFields, values: Values): Values
}

const none: NestedRecords = { all: [], params: [], created: [], named: (_fields, values) => values }

/**
 * Gives the nested records of a body their ids. Only for a body without problems: reserved ids are not given
 * back.
 */
export async function nestedRecords(
  db: Queryable,
  { nested }: Parsed,
  { catalog, actor }: Context,
): Promise<NestedRecords> {
  if (nested.length === 0) return none
  const first = await reserveRecordIds(db, String(catalog.account.id), nested.length)
  const ids = new Map(nested.map(({ stand_in }, index) => [stand_in, first + index]))
  const named: NestedRecords['named'] = ({ byName }, values) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]): [string, Json] => [
        name,
        byName.get(name)?.related ? idsIn(value, ids) : value,
      ]),
    )
  const params = nested.flatMap(({ fields, parsed, stand_in }) => {
    const made = { created_at: moment, updated_at: moment, created_by: actor, updated_by: actor }
    const after = named(fields, { ...blank(fields), ...parsed.values, ...made })
    const changes = changesOf(fields, blank(fields), after)
    const custom = customParams(fields, changes).set
    return [
      String(ids.get(stand_in)),
      custom,
      documentOf(fields, after),
      JSON.stringify(changes),
      ...columnParams(fields, after),
    ]
  })
  const created = nested.map(({ fields, stand_in }) => ({
    resource: fields.resource.name,
    id: ids.get(stand_in)!,
  }))
  return { all: nested.map(({ fields }) => fields), params, created, named }
}

/** Stand-ins are whole numbers below zero, alone or in an array, as no id is. */
function idsIn(value: Json, ids: ReadonlyMap<number, number>): Json {
  if (Array.isArray(value))
    return value.map(item => (typeof item === 'number' ? (ids.get(item) ?? item) : item))
  return typeof value === 'number' ? (ids.get(value) ?? value) : value
}
