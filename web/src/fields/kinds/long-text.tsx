/** TEXT: text of several lines. The notes of an activity mention people. */
import { MentionText } from '../../activities/mention-text.tsx'
import { plainText } from '../../activities/mentions.ts'
import { NotesInput } from '../../activities/notes-input.tsx'
import type { Field } from '../../api/api.ts'
import { TextArea } from '../../ui/inputs.tsx'
import type { Kind } from '../kind.ts'
import { text } from './text.tsx'

/** Only activities have a field of that name: those of an account begin with cf_. */
const mentionsPeople = ({ internal_name }: Field) => internal_name === 'notes'

export const longText: Kind<string> = {
  ...text,
  Cell: ({ value, field }) => (
    <span dir="auto" className="whitespace-pre-line">
      {mentionsPeople(field) ? <MentionText text={value} /> : value}
    </span>
  ),
  Input: props => {
    if (mentionsPeople(props.field)) return <NotesInput {...props} />
    const { value, onChange, field, label, isLabelHidden, error, autoFocus } = props
    return (
      <TextArea
        {...{ label, isLabelHidden, error, autoFocus }}
        dir="auto"
        isRequired={field.is_required}
        value={value ?? ''}
        onChange={typed => onChange(typed === '' ? null : typed)}
      />
    )
  },
  display: (value, _names, _format, field) => (mentionsPeople(field) ? plainText(value) : value),
  parse: typed => (typed === '' ? null : typed),
  width: 280,
}
