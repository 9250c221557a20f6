/** Whether the records that a body points to exist: asked in the same statement that reads the record. */
import type { Problem } from '../errors.ts'
import type { Catalog } from '../fields/catalog.ts'
import { identifier } from '../fields/field.ts'
import { type JsonObject, parseJson } from '../json.ts'
import type { Reference } from './parse.ts'
import type { Draft } from './resource.ts'
import type { Queryable } from './store.ts'

export type Question = { readonly columns: readonly string[]; readonly params: readonly string[] }

/**
 * One column a resource, `live_<resource>`: the ids that exist and are not deleted; `copied_<resource>` where
 * they may be copied from. Parameters start at $`first`; $1 is the account.
 */
export function existenceQuestion(
  references: readonly Reference[],
  first: number,
  catalog: Pick<Catalog, 'resources'>,
): Question {
  const resources = [...new Set(references.map(reference => reference.resource))].sort()
  return {
    columns: resources.flatMap((resource, index) => {
      const of = `FROM ${identifier(resource)} WHERE account_id = $1::bigint AND id = ANY($${first + index}::bigint[]) AND deleted_at IS NULL`
      const live = `(SELECT string_agg(id::text, ',') ${of}) AS ${identifier(`live_${resource}`)}`
      const copied = catalog.resources.get(resource)?.resource.snapshot
      if (!copied) return [live]
      const members = ['id', ...copied].map(name => `'${name}', ${identifier(name)}`).join(', ')
      return [
        live,
        `(SELECT json_agg(json_build_object(${members}))::text ${of}) AS ${identifier(`copied_${resource}`)}`,
      ]
    }),
    params: resources.map(resource => `{${[...new Set(ofResource(references, resource))].join(',')}}`),
  }
}

/** What the database says of the references of a request; nothing where there are none. */
export async function askReferences(
  db: Queryable,
  { account, resources }: Catalog,
  references: readonly Reference[],
): Promise<Record<string, string | null>> {
  if (references.length === 0) return {}
  const question = existenceQuestion(references, 2, { resources })
  const [row] = await db.query(`SELECT ${question.columns.join(', ')}`, [
    String(account.id),
    ...question.params,
  ])
  return row!
}

/** What the related records say of themselves, from the row that answers the question. */
export function relatedOf(row: Record<string, string | null> | undefined): Draft['related'] {
  const read = new Map<string, Map<number, JsonObject>>()
  return (resource, id) => {
    let records = read.get(resource)
    if (!records) {
      const rows = parseJson(row?.[`copied_${resource}`] ?? '[]') as JsonObject[]
      records = new Map(rows.map(record => [Number(record.id), record]))
      read.set(resource, records)
    }
    return records.get(id) ?? null
  }
}

/** Unknown, deleted and other accounts' ids: one and the same problem (D11). */
export function missingReferences(
  references: readonly Reference[],
  row: Record<string, string | null>,
): Problem[] {
  const live = new Map<string, Set<string>>()
  return references.flatMap(({ resource, id, field, path }) => {
    if (!live.has(resource)) live.set(resource, new Set(row[`live_${resource}`]?.split(',')))
    if (live.get(resource)!.has(String(id))) return []
    return [{ field, path, code: 'reference_not_found', message: `${field}: there is no ${resource} ${id}.` }]
  })
}

/**
 * What a write newly points to, as its statement takes it (store.ts): the resources, and for each the
 * parameter with its ids.
 */
export function pointedTo(references: readonly Reference[]): {
  related: readonly string[]
  params: readonly string[]
} {
  const related = [...new Set(references.map(reference => reference.resource))].sort()
  return {
    related,
    params: related.map(resource => `{${[...new Set(ofResource(references, resource))].join(',')}}`),
  }
}

function ofResource(references: readonly Reference[], resource: string): number[] {
  return references.filter(reference => reference.resource === resource).map(reference => reference.id)
}
