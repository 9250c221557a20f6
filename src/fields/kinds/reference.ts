/** One related record, stored as its id: OWNER, TERRITORY, COMPANY, CONTACT, and the ONBOARD types (D11). */
import { isObject, type Json } from '../../json.ts'
import { type Sql, sql } from '../../sql.ts'
import { type Expression, shortTextOrder } from '../columns.ts'
import { decimal, decimalPlaces, plain } from '../decimal.ts'
import type { Field, ParseContext, Schemas } from '../field.ts'
import { type Order, ordered } from '../term.ts'
import { whereRecordsAre } from './how-to-write.ts'
import { idOperand } from './number.ts'
import { closedObject, openObject } from './schemas.ts'
import { simpleKind } from './simple.ts'

/** Ids are whole numbers from 1, below 2^53. */
const maxId = Number.MAX_SAFE_INTEGER

export const reference = simpleKind({
  column: 'bigint',
  type: 'bigint',
  operators: ordered,
  parse: (input, context) => checkedReference(input, context),
  schema: referenceSchemas,
  operand: idOperand,
  order: nameOrder,
})

/**
 * The id that `input` names; undefined after a problem. `input` is `7` or, if the interface takes an object,
 * `{"id":7}`. An object without an id is a record to be created.
 */
export function checkedReference(
  input: Json | undefined,
  context: ParseContext,
  at = '',
): number | undefined {
  const { field } = context
  const isObjectTaken = isObject(input) && takesObject(field)
  if (isObjectTaken && input.id === undefined) return context.create(field.related!, input, at)
  if (isObjectTaken && Object.keys(input).length > 1) {
    return context.problem('contradiction', 'has an id and other members', {
      at,
      hint: `Link with {"id":…} alone, or leave the id out to create a ${field.related}.`,
    })
  }
  const linked = isObjectTaken ? input.id : input
  if (typeof linked === 'string') return context.named(field.related!, linked, at)
  return checkedId(linked, field.related!, 'the name', context, at)
}

/** The id in `input`; undefined after a problem. `names`: all else that names a record there. */
export function checkedId(
  input: Json | undefined,
  resource: string,
  names: string,
  context: ParseContext,
  at: string,
): number | undefined {
  const id = decimal(input)
  const more = { at, hint: whereRecordsAre(resource) }
  if (!id || decimalPlaces(id) > 0)
    return context.problem('wrong_type', `must be the id (a whole number) or ${names} of a ${resource}`, more)
  if (id.lt(1) || id.gt(maxId))
    return context.problem('reference_not_found', `is ${plain(id)}, but there is no such ${resource}`, more)
  context.reference(resource, id.toNumber(), at)
  return id.toNumber()
}

/**
 * An id; if records have names, also a name (D75); if the interface takes an object, also {"id":7}, the
 * members of a record to be created, or those of one to find.
 */
export function referenceSchemas(field: Field): Schemas {
  const output = { type: 'integer' }
  const id = { ...output, minimum: 1, maximum: maxId }
  const named = field.is_named ? { ...id, type: ['integer', 'string'], pattern: '\\S' } : id
  if (!takesObject(field)) return { input: named, output }
  const created = {
    ...{ $ref: newRecord(field.related!), not: { required: ['id'] } },
    description: `A new ${field.related}, which is created with the record.`,
  }
  const found = {
    ...openObject({ find_by: { enum: ['email', 'name'] } }),
    description: `The ${field.related} with that e-mail or name, or else a new one.`,
  }
  return { input: { anyOf: [named, closedObject({ id: named }, ['id']), created, found] }, output }
}

/** The OpenAPI document's reference to the schema of a record to be created. */
export function newRecord(resource: string): string {
  return `#/components/schemas/${resource}_new`
}

function takesObject(field: Field): boolean {
  return field.type.endsWith('_ONBOARD')
}

/** References sort by the name shown (D29). */
function nameOrder(id: Expression, field: Field): Order {
  const table = sql.id(field.related!)
  // The name is folded inside the subquery: PostgreSQL inlines `fold` for a column, but not for the result of
  // a subquery.
  const name = shortTextOrder(shownName(field, sql`named.`))
  return {
    sql: (row, visibleAs) => sql`(
      SELECT ${name} FROM ${table} named
      WHERE ${visibleAs(field.related!, sql`named`)} AND named.id = ${id(row)})`,
    type: 'text',
    looksUp: true,
    namesOf: field.related!,
  }
}

/** SQL of the displayed name of the record that the field points to; `alias` as in Row. */
export function shownName({ related_name }: Pick<Field, 'related_name'>, alias: Sql): Sql {
  const columns = related_name.map(name => sql`${alias}${sql.id(name)}`)
  return columns.length === 1 ? columns[0]! : sql`concat_ws(' ', ${sql.join(columns)})`
}
