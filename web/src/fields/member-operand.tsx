/** A member of a field, such as the currency of an amount, in a filter. */
import { useQuery } from '@tanstack/react-query'
import { currenciesQuery } from '../api/queries.ts'
import { Select } from '../ui/inputs.tsx'
import type { OperandProps } from './kind.ts'
import { TextOperand } from './operand.tsx'

export function MemberOperand(props: OperandProps & { member: string }) {
  const { member, field, value, onChange, label } = props
  const type = field.sub_fields?.find(({ name }) => name === member)?.type
  const currencies = useQuery({ ...currenciesQuery, enabled: type === 'CURRENCY' })
  if (type !== 'CURRENCY') return <TextOperand {...props} />
  // A currency is named by its code, as people know it; its number means the same.
  const choices = (currencies.data ?? []).map(({ id, code }) => ({ id: code, name: code, number: id }))
  const chosen = choices.find(({ number }) => String(number) === value)?.id ?? value
  const known = choices.some(({ id }) => id === chosen)
  return (
    <Select
      label={label}
      isLabelHidden
      value={chosen}
      none="Choose…"
      choices={known || !chosen ? choices : [...choices, { id: chosen, name: chosen }]}
      onChange={code => onChange(code ?? '')}
    />
  )
}
