/**
 * The SQL of a record's life: pure functions from a resource's fields to statements, the same text for the
 * same fields so that it is prepared once. One statement reads, one writes: counter, record and event
 * together, all or nothing. Every statement names its account as $1; those that write begin as write.ts says,
 * and end with the CTE `answer` (once.ts).
 */
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import { type Column, type Field, identifier } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { refusedDeletion } from './administrators.ts'
import { documentSql, documentWith, jsonInstant } from './document.ts'
import type { Resource } from './resource.ts'
import { appended, columnValue, counted, dated, lockedAt } from './write.ts'

/** What reading needs of a database. */
export type Reader = {
  query(
    text: string,
    params?: readonly (string | null)[],
    replan?: boolean,
  ): Promise<readonly Record<string, string | null>[]>
}

/** What the store needs of a database, so that a transaction can stand in for it. */
export type Queryable = Reader & {
  /**
   * One statement that writes to an account, after `first` if given; those of one account that come together
   * may share a commit.
   */
  write(
    account: string,
    text: string,
    params: readonly (string | null)[],
    first?: string,
  ): Promise<readonly Record<string, string | null>[]>
}

/**
 * The columns of the service's own fields (or of some), with the field each belongs to. `id` and `version`
 * are the store's.
 */
export function columnsOf(
  fields: ResourceFields,
  only?: ReadonlySet<Field>,
): { field: Field; columns: readonly Column[] }[] {
  return fields.fields
    .filter(field => only?.has(field) ?? true)
    .filter(
      field =>
        !field.is_custom && !field.computed && !['id', 'version', 'deleted_at'].includes(field.internal_name),
    )
    .map(field => ({ field, columns: kinds[field.type].columns(field) }))
}

type Statements = {
  /**
   * `nested`: the resources of the records made with it; `related`: the resources to which it newly points;
   * both in the order of their parameters
   */
  create(nested: readonly ResourceFields[], related: readonly string[]): string
  read: string
  remove(catalog: Catalog): string
  restore(related: readonly string[]): string
  readDeleted: string
  update(changed: ReadonlySet<Field>, nested: readonly ResourceFields[], related: readonly string[]): string
}
const prepared = new WeakMap<ResourceFields, Statements>()

/** The statements of a resource as an account has it; made once a catalog. */
export function statements(fields: ResourceFields): Statements {
  let made = prepared.get(fields)
  if (!made) {
    const created = new Map<string, string>()
    made = {
      create: (nested, related) => {
        if (nested.length) return createStatement(fields, nested, related)
        const text = created.get(related.join()) ?? createStatement(fields, nested, related)
        created.set(related.join(), text)
        return text
      },
      read: readStatement(fields),
      readDeleted: readDeletedStatement(fields),
      restore: related => restoreStatement(fields, related),
      remove: catalog => removeStatement(fields, catalog),
      update: (changed, nested, related) => updateStatement(fields, changed, nested, related),
    }
    prepared.set(fields, made)
  }
  return made
}

/**
 * $1 account, $2 id → version, record; and state, which is another after every change of the row, also of
 * what makes no version.
 */
function readStatement(fields: ResourceFields): string {
  return (
    `SELECT r.version::text AS version, r.xmin::text AS state, ${documentSql(fields)} AS record FROM ${table(fields)} r ` +
    'WHERE r.account_id = $1::bigint AND r.id = $2::bigint AND r.deleted_at IS NULL'
  )
}

/** $1 account, $2 id, $3 oldest deletion that can be undone → version, record. */
function readDeletedStatement(fields: ResourceFields): string {
  return (
    `SELECT r.version::text AS version, ${documentSql(fields)} AS record FROM ${table(fields)} r ` +
    'WHERE r.account_id = $1::bigint AND r.id = $2::bigint AND r.deleted_at >= $3::timestamptz'
  )
}

/**
 * $1 account, $2 actor, $3 moment, $4 version judged, $5 custom, $6 event changes, $7 document, $8… the ids
 * it newly points to, resource by resource, then the columns, then the nested records → id, version, record;
 * no row when one of those ids was deleted meanwhile.
 */
function createStatement(
  fields: ResourceFields,
  nested: readonly ResourceFields[],
  related: readonly string[],
): string {
  const columns = columnsOf(fields).flatMap(entry => entry.columns)
  const names = columns.map(column => identifier(column.name)).join(', ')
  const live = liveCondition(related, 8)
  const values = columns
    .map((column, index) => columnValue(`$${index + 8 + live.count}`, column.type, 'counted.at'))
    .join(', ')
  return (
    `WITH ${lockedAt}, ${counted(String(1 + nested.length), `true${live.sql}`, 'last_id = c.last_id + 1, ')}, ` +
    `r AS (INSERT INTO ${table(fields)} (account_id, id, custom, document, ${names}) ` +
    `SELECT $1::bigint, counted.last_id, $5::jsonb, ${dated('$7', 'counted.at')}, ${values} FROM counted RETURNING *), ` +
    `${eventOf(fields, 'created', '$6')}${nestedSql(nested, 8 + live.count + columns.length)}${versionSql(fields)}, ` +
    answerOf(fields)
  )
}

/**
 * $1 account, $2 actor, $3 moment, $4 version judged, $5 custom set, $6 changes, $7 id, $8 version read, $9
 * custom unset, $10 document, $11 state read, $12… the ids it newly points to, then the columns of the
 * changed fields, then the nested records. Only the changed: most changes touch a field or two, and a deal
 * has sixty columns. A purge of a field (administration/purge.ts) makes no version: the state keeps the text
 * that was read before it from coming back.
 */
function updateStatement(
  fields: ResourceFields,
  changed: ReadonlySet<Field>,
  nested: readonly ResourceFields[],
  related: readonly string[],
): string {
  const columns = columnsOf(fields, changed).flatMap(entry => entry.columns)
  const live = liveCondition(related, 12)
  const set = columns
    .map(
      (column, index) =>
        `${identifier(column.name)} = ${columnValue(`$${index + 12 + live.count}`, column.type, 'locked.at')}`,
    )
    .join(', ')
  return (
    `WITH ${lockedAt}, r AS (UPDATE ${table(fields)} SET version = version + 1, custom = (custom || $5::jsonb) - $9::text[], ` +
    `document = ${dated('$10', 'locked.at')}, ${set} ` +
    `FROM locked WHERE account_id = $1::bigint AND id = $7::bigint AND version = $8::int AND xmin = $11::xid AND deleted_at IS NULL${live.sql} ` +
    `RETURNING ${table(fields)}.*), ` +
    `${counted(String(1 + nested.length))}, ${eventOf(fields, 'updated', '$6')}` +
    `${nestedSql(nested, 12 + live.count + columns.length)}${versionSql(fields)}, ${answerOf(fields)}`
  )
}

/**
 * The records made with another, in the same statement (D11): each has its id (it was reserved, so that the
 * other could name it), custom, document, event changes and columns. Their events come before the other's.
 */
function nestedSql(nested: readonly ResourceFields[], first: number): string {
  let next = first
  return nested
    .map((fields, index) => {
      const columns = columnsOf(fields).flatMap(entry => entry.columns)
      const names = columns.map(column => identifier(column.name)).join(', ')
      const [id, custom, document, changes] = [next++, next++, next++, next++].map(
        number => `$${number}`,
      ) as [string, string, string, string]
      const values = columns.map(column => columnValue(`$${next++}`, column.type, 'counted.at')).join(', ')
      const { name } = fields.resource
      const told = {
        type: `'${name}.created'`,
        resource: `'${name}'`,
        of: `nested${index}`,
        before: String(nested.length - index),
        changes: dated(changes, 'counted.at'),
      }
      return (
        `, nested${index} AS (INSERT INTO ${table(fields)} (account_id, id, custom, document, ${names}) ` +
        `SELECT $1::bigint, ${id}::bigint, ${custom}::jsonb, ${dated(document, 'counted.at')}, ${values} FROM counted RETURNING id, version), ` +
        appended(`told${index}`, told)
      )
    })
    .join('')
}

/**
 * That what a record newly points to is still there. FOR SHARE reads its row as it is after waiting for
 * whoever deletes it now (the weaker KEY SHARE of a foreign key does not); it comes after the account's lock,
 * so that no two can wait for each other.
 */
function liveCondition(related: readonly string[], first: number): { sql: string; count: number } {
  const conditions = related.map((resource, index) => {
    const ids = `$${first + index}::bigint[]`
    const rows =
      `SELECT x.id FROM locked, ${identifier(resource)} x WHERE x.account_id = $1::bigint AND x.id = ANY(${ids}) ` +
      'AND x.deleted_at IS NULL FOR SHARE OF x'
    return ` AND (SELECT count(*) FROM (${rows}) y) = cardinality(${ids})`
  })
  return { sql: conditions.join(''), count: related.length }
}

/**
 * $1 account, $2 actor, $3 moment, $4 version judged, $5 id, $6 the versions that may be deleted, as JSON
 * (null: any), $7 of a user: whether the actor's token has the scope admin → id (null when it was not
 * deleted), the version that was found (null: there is none), used: how many records of each resource point
 * to it, as JSON, and refused: why a user may not go. To be carried out after `lockAccount`, so that it sees
 * every record that was saved till then.
 */
function removeStatement(fields: ResourceFields, catalog: Catalog): string {
  const { parts = [] } = fields.resource
  const uses = pointersTo(fields.resource, catalog, '$5::bigint').filter(
    ({ resource }) => !parts.includes(resource),
  )
  const used = uses.length
    ? `(SELECT json_build_object(${uses.map(({ resource, condition }) => `'${resource}', (SELECT count(*) FROM ${identifier(resource)} x WHERE x.account_id = $1::bigint AND x.deleted_at IS NULL AND (${condition}))`).join(', ')}))`
    : `'{}'::json`
  const free = uses.map(({ resource }) => ` AND (used.n ->> '${resource}') = '0'`).join('')
  const refused = fields.resource.isActor ? refusedDeletion : 'NULL::text'
  return (
    `WITH ${lockedAt}, used AS MATERIALIZED (SELECT ${used} AS n, ${refused} AS refused FROM locked), ` +
    `r AS (UPDATE ${table(fields)} SET version = version + 1, deleted_at = locked.at ` +
    `FROM used, locked WHERE account_id = $1::bigint AND id = $5::bigint AND deleted_at IS NULL ` +
    `AND ($6::jsonb IS NULL OR $6::jsonb ? version::text) AND used.refused IS NULL${free} RETURNING id, version), ` +
    `${partsSql(fields, 'deleted', 'deleted_at = locked.at', 'IS NULL')}, ${eventOf(fields, 'deleted')}${tokensSql(fields)}${versionSql(fields)}, ` +
    `answer AS (SELECT (SELECT id FROM r)::text AS id, used.n::text AS used, used.refused, ` +
    `(SELECT t.version FROM ${table(fields)} t WHERE t.account_id = $1::bigint AND t.id = $5::bigint AND t.deleted_at IS NULL)::text AS version FROM used)`
  )
}

/** The tokens of whoever is deleted end, for good. */
function tokensSql({ resource }: ResourceFields): string {
  if (!resource.isActor) return ''
  return (
    ', ended AS (UPDATE token x SET revoked_at = locked.at FROM r, locked ' +
    'WHERE x.account_id = $1::bigint AND x.user_id = r.id AND x.revoked_at IS NULL)'
  )
}

/** A write to what the catalog is made of makes a new version of it. */
function versionSql({ resource }: ResourceFields): string {
  if (!resource.isConfiguration) return ''
  return ', versioned AS (UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = $1::bigint AND EXISTS (SELECT FROM r))'
}

/**
 * $1 account, $2 actor, $3 moment, $4 version judged, $5 id, $6 oldest deletion that can be undone, $7
 * version read, $8… the ids it points to → id, version, record; no row when it is not deleted in that
 * version, or one of those ids is. Its parts come back that went with it.
 */
function restoreStatement(fields: ResourceFields, related: readonly string[]): string {
  const row = `account_id = $1::bigint AND id = $5::bigint AND deleted_at >= $6::timestamptz AND version = $7::int`
  return (
    `WITH ${lockedAt}, before AS MATERIALIZED (SELECT t.deleted_at FROM ${table(fields)} t WHERE t.${row}), ` +
    `r AS (UPDATE ${table(fields)} SET version = version + 1, deleted_at = NULL, ${setAuthor(table(fields))} FROM locked ` +
    `WHERE ${row}${liveCondition(related, 8).sql} RETURNING ${table(fields)}.*), ` +
    `${partsSql(fields, 'restored', `deleted_at = NULL, ${setAuthor('x')}`, '= (SELECT deleted_at FROM before)')}, ` +
    `${eventOf(fields, 'restored')}${versionSql(fields)}, ${answerOf(fields)}`
  )
}

/** When and by whom a record was changed, where nothing else of it is. */
function setAuthor(row: string): string {
  const document = documentWith(`${row}.document`, {
    updated_at: jsonInstant('locked.at'),
    updated_by: '$2::text',
  })
  return `updated_at = locked.at, updated_by = $2::bigint, document = ${document}`
}

/** The parts of a record go and come back with it, each with its event before that of the record. */
function partsSql(
  { resource: { name, parts = [] } }: ResourceFields,
  verb: string,
  set: string,
  which: string,
): string {
  if (parts.length === 0) return counted('1')
  const updates = parts.map(
    (part, index) =>
      `part${index} AS (UPDATE ${identifier(part)} x SET version = x.version + 1, ${set} FROM r, locked ` +
      `WHERE x.account_id = $1::bigint AND x.${identifier(name)} = r.id AND x.deleted_at ${which} RETURNING x.id, x.version), `,
  )
  const rows = parts
    .map((part, index) => `SELECT '${part}' AS resource, id, version FROM part${index}`)
    .join(' UNION ALL ')
  const before = 'row_number() OVER (ORDER BY e.id DESC)'
  const told = appended('told', {
    type: `e.resource || '.${verb}'`,
    resource: 'e.resource',
    of: 'parts',
    before,
  })
  return `${updates.join('')}parts AS (${rows}), ${counted('1 + (SELECT count(*) FROM parts)')}, ${told}`
}

/**
 * Which records `x` point to the record of a resource with an id, which is SQL: what they own, not who made
 * and changed them.
 */
export function pointersTo(
  { name }: Resource,
  catalog: Catalog,
  id: string,
): { resource: string; condition: string }[] {
  return [...catalog.resources.values()].flatMap(({ resource, fields }) => {
    const pointing = fields.filter(field => field.related === name && !field.is_read_only)
    const conditions = pointing.map(field => {
      if (field.is_custom) return `x.custom @> jsonb_build_object('${field.internal_name}', ${id})`
      const isSeveral = kinds[field.type].empty !== undefined
      return isSeveral
        ? `x.${identifier(field.internal_name)} @> ARRAY[${id}]`
        : `x.${identifier(field.internal_name)} = ${id}`
    })
    return conditions.length ? [{ resource: resource.name, condition: conditions.join(' OR ') }] : []
  })
}

/** Reserves `count` ids of records: the first of them. Those that are not used are never given to another. */
export async function reserveRecordIds(db: Queryable, account: string, count: number): Promise<number> {
  const text =
    'UPDATE counter SET last_id = last_id + $2::bigint WHERE account_id = $1::bigint RETURNING (last_id - $2::bigint + 1)::text AS first'
  const [row] = await db.write(account, text, [account, String(count)])
  return Number(row!.first)
}

/** The event of the record `r`; `changes` is the parameter that has them. */
function eventOf({ resource: { name } }: ResourceFields, verb: string, changes?: string): string {
  const told = changes ? { changes: dated(changes, 'counted.at') } : {}
  return appended('logged', { type: `'${name}.${verb}'`, resource: `'${name}'`, of: 'r', ...told })
}

/** What a write answers, for once.ts to keep. */
function answerOf(fields: ResourceFields): string {
  return `answer AS (SELECT r.id::text AS id, r.version::text AS version, ${documentSql(fields)} AS record FROM r)`
}

function table(fields: ResourceFields): string {
  return identifier(fields.resource.name)
}
