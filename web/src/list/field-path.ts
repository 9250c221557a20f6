/** Paths in filters and sorts: a field, a member of it, or a field of the related record (D87). */
import type { Operator } from '../../../client/src/filter.ts'
import type { Schemas } from '../api/api.ts'

type Field = Schemas['field']

export type ResolvedPath = {
  /** the field whose kind shows and edits the operand */
  readonly field: Field
  /** '' for the field itself */
  readonly member: string
  readonly label: string
  readonly operators: readonly Operator[]
}

/** The name of any member, such as those of JSON. */
export const anyMember = '*'

/**
 * Finds a path among the fields of a resource. `of` gives the fields of another resource, or undefined until
 * they are loaded. Null if there is no such field.
 */
export function resolvePath(
  path: string,
  fields: readonly Field[],
  of: (source: string) => readonly Field[] | undefined,
): ResolvedPath | null {
  const { first, rest } = steps(path)
  const field = fields.find(({ internal_name }) => internal_name === first)
  if (!field) return null
  if (!rest) return { field, member: '', label: field.field_name, operators: field.operators }
  const member = field.members?.find(({ name }) => name === rest || name === anyMember)
  if (member)
    return {
      field,
      member: rest,
      label: `${field.field_name} › ${memberLabel(field, rest)}`,
      operators: member.operators,
    }
  const others = field.related_field && of(field.related_field.source)
  const inner = others ? resolvePath(rest, others, () => undefined) : null
  return inner && { ...inner, label: `${field.field_name} › ${inner.label}` }
}

/** The resources whose fields the paths need: each once. */
export function relatedSources(paths: readonly string[], fields: readonly Field[]): string[] {
  const sources = paths.flatMap(path => {
    const { first, rest } = steps(path)
    const field = fields.find(({ internal_name }) => internal_name === first)
    const isMember = field?.members?.some(({ name }) => name === rest || name === anyMember)
    return rest && !isMember && field?.related_field ? [field.related_field.source] : []
  })
  return [...new Set(sources)]
}

/** The label of a member. */
export function memberLabel(field: Field, member: string): string {
  const known = field.sub_fields?.find(({ name }) => name === member)?.display_name
  const words = member.replaceAll(/[._]/g, ' ')
  return known ?? words.charAt(0).toUpperCase() + words.slice(1)
}

function steps(path: string): { first: string; rest: string } {
  const dot = path.indexOf('.')
  return dot < 0 ? { first: path, rest: '' } : { first: path.slice(0, dot), rest: path.slice(dot + 1) }
}
