/** The value of a field before or after a change. */
import type { Field } from '../../api/api.ts'
import { displayValue } from '../../fields/kinds.ts'
import { useFormat } from '../../format/use-format.tsx'
import { isEmpty } from '../editing/draft.ts'
import { type Change, changeNames } from './history.ts'

export function ChangeValue(props: { change: Change; field: Field | undefined; side: 'from' | 'to' }) {
  const { change, field, side } = props
  const format = useFormat()
  const value = change[side]
  if (isEmpty(value)) return <span className="text-ink-faint">empty</span>
  const names = changeNames(value, change[`${side}_name`])
  const text = field ? displayValue(value, names, format, field) : JSON.stringify(value)
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return (
    <bdi className={side === 'to' ? 'text-ink' : 'text-ink-faint line-through decoration-1'}>{shown}</bdi>
  )
}
