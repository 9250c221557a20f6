/** STRING_LIST: several words, one a line. */
import { TextArea } from '../../ui/inputs.tsx'
import type { Kind } from '../kind.ts'
import { operandOf, TextOperand } from '../operand.tsx'

const words = (text: string) => text.split('\n')
const whole = (list: readonly string[]) => [...new Set(list.map(word => word.trim()).filter(Boolean))]

export const stringList: Kind<readonly string[]> = {
  Cell: ({ value }) => value.join(', '),
  Input: ({ value, onChange, field, label, isLabelHidden, error, autoFocus }) => (
    <TextArea
      {...{ label, isLabelHidden, error, autoFocus }}
      hint={isLabelHidden ? undefined : 'One on each line'}
      isRequired={field.is_required}
      value={(value ?? []).join('\n')}
      onChange={typed => onChange(typed === '' ? [] : words(typed))}
    />
  ),
  Operand: operandOf(TextOperand),
  text: value => value.join(', '),
  parse: typed => whole(typed.split(/[,\n]/)),
  check: (value, { config: { max_limit = 1000 } }) => {
    const list = whole(value)
    if (list.length > max_limit) return `Must have at most ${max_limit} entries.`
    return list.some(word => [...word].length > 255) ? 'Must have at most 255 characters each.' : undefined
  },
  write: whole,
  width: 200,
}
