/** TEXT: text of several lines. */
import { TextArea } from '../../ui/inputs.tsx'
import type { Kind } from '../kind.ts'
import { text } from './text.tsx'

export const longText: Kind<string> = {
  ...text,
  Cell: ({ value }) => (
    <span dir="auto" className="whitespace-pre-line">
      {value}
    </span>
  ),
  Input: ({ value, onChange, field, label, isLabelHidden, error, autoFocus }) => (
    <TextArea
      {...{ label, isLabelHidden, error, autoFocus }}
      dir="auto"
      isRequired={field.is_required}
      value={value ?? ''}
      onChange={typed => onChange(typed === '' ? null : typed)}
    />
  ),
  parse: typed => (typed === '' ? null : typed),
  width: 280,
}
