/** Fields that programs need and people seldom do: they stand in a section of their own, the last. Pure. */
import type { Field } from '../../api/api.ts'

export const technical = 'Technical'
const names: ReadonlySet<string> = new Set(['id', 'version', 'metadata'])

/** The sections of a form without these fields, and behind them the section that has them. */
export function technicalLast(sections: readonly (readonly Field[])[]): Field[][] {
  const isOne = ({ internal_name }: Field) => names.has(internal_name)
  const others = sections.map(section => section.filter(field => !isOne(field)))
  const last = sections.flat().filter(isOne)
  return [...others, last.map(field => ({ ...field, section: technical }))]
}
