/**
 * Stored filters refer to options, stages and pipelines by id (D130), so a rename doesn't affect them. Pure.
 */
import {
  type Condition,
  FilterError,
  type FilterNode,
  parseFilter,
  printFilter,
} from '../../client/src/filter.ts'
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { ofSeveral } from '../fields/term.ts'

/**
 * The filter with ids in place of names that an account may change. The same text if it has none, or can't be
 * parsed.
 */
export function withOptionIds(text: string, schema: ResourceSchema, catalog: Catalog): string {
  let isChanged = false
  const byId = (condition: Condition): Condition => {
    const ids = idsOf(condition, schema, catalog)
    if (!ids || ids.join() === condition.values.join()) return condition
    isChanged = true
    const { operator } = condition
    return { ...condition, operator: ids.length > 1 ? ofSeveral[operator]! : operator, values: ids }
  }
  const changed = (node: FilterNode): FilterNode =>
    node.type === 'condition' ? byId(node) : { ...node, of: node.of.map(changed) }
  try {
    const filter = parseFilter(text).map(changed)
    return isChanged ? printFilter(filter) : text
  } catch (error) {
    if (error instanceof FilterError) return text
    throw error
  }
}

/** The field that a name means, also one of the resource that a reference points to (D87). */
function fieldAt(name: string, { byName }: ResourceSchema, { resources }: Catalog): Field | undefined {
  const dot = name.indexOf('.')
  if (dot < 0) return byName.get(name)
  const { related = null } = byName.get(name.slice(0, dot)) ?? {}
  return related === null ? undefined : resources.get(related)?.byName.get(name.slice(dot + 1))
}

/** The ids of a condition's values; null if it compares no option that can be renamed. */
function idsOf({ field: name, operator, values }: Condition, schema: ResourceSchema, catalog: Catalog) {
  const field = fieldAt(name, schema, catalog)
  if (!field || !kinds[field.type].hasOptions || field.has_static_options || !ofSeveral[operator]) return null
  const term = kinds[field.type].term(field, '')!
  const found = values.map(value => term.operand(value, catalog))
  const isKnown = found.every(one => typeof one === 'string' || Array.isArray(one))
  return isKnown ? [...new Set(found.flat() as string[])] : null
}
