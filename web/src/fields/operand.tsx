/** The shared editors of a filter's operand: yes or no, from and to, a list. */
import type { ReactNode } from 'react'
import { Select, TextField } from '../ui/inputs.tsx'
import type { OperandProps } from './kind.ts'
import { joinList, splitList } from './operand-list.ts'

const truths = [
  { id: 'true', name: 'Yes' },
  { id: 'false', name: 'No' },
]

/** A text in a filter, for every kind without a better operand. */
export function TextOperand({ value, onChange, label, operator }: OperandProps) {
  const hint = operator === 'in' || operator === 'nin' ? 'Values, separated by commas' : 'Value'
  return <TextField label={label} isLabelHidden value={value} onChange={onChange} placeholder={hint} />
}

type One = (props: OperandProps) => ReactNode

/**
 * The operand editor of a kind whose single value `One` edits; `Many` edits a list. An operator for presence
 * takes yes or no, `between` takes two.
 */
export function operandOf(One: One, Many: One = TextOperand): One {
  return function Operand(props) {
    const { value, onChange, label, operator } = props
    if (operator === 'isnull' || operator === 'notnull' || operator === 'exists') {
      return (
        <Select
          label={label}
          isLabelHidden
          value={value === 'false' ? 'false' : 'true'}
          onChange={chosen => onChange(chosen ?? 'true')}
          choices={truths}
        />
      )
    }
    if (operator === 'in' || operator === 'nin') return <Many {...props} />
    if (operator !== 'between') return <One {...props} />
    const [from = '', to = ''] = splitList(value)
    return (
      <span className="flex min-w-0 items-center gap-1.5">
        <One
          {...props}
          label={`${label}, from`}
          value={from}
          onChange={one => onChange(joinList([one, to]))}
        />
        <span aria-hidden>–</span>
        <One {...props} label={`${label}, to`} value={to} onChange={one => onChange(joinList([from, one]))} />
      </span>
    )
  }
}
