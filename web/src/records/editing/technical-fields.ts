/** Fields for programs rather than people, in a last section of their own. Pure. */
import type { Field } from '../../api/api.ts'

export const technicalNames: ReadonlySet<string> = new Set(['id', 'version', 'metadata'])

/** True for the section of these fields, whatever the account calls its own. */
export const isTechnical = ([first]: readonly Field[]): boolean =>
  first !== undefined && technicalNames.has(first.internal_name)

/** The sections of a form without these fields, followed by their own section. */
export function technicalLast(sections: readonly (readonly Field[])[]): Field[][] {
  const isOne = ({ internal_name }: Field) => technicalNames.has(internal_name)
  const others = sections.map(section => section.filter(field => !isOne(field)))
  const last = sections.flat().filter(isOne)
  return [...others, last.map(field => ({ ...field, section: 'Details' }))]
}
