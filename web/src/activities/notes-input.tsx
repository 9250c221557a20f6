/** The notes of an activity in a form or in place: as people read them, with completion after `@` (D156). */
import { useState } from 'react'
import type { AnyRecord } from '../api/api.ts'
import type { InputProps } from '../fields/kind.ts'
import { aboutActivity } from './about.ts'
import { MentionArea } from './mention-area.tsx'
import { readableText, storedText } from './mentions.ts'

export function NotesInput(props: InputProps<string>) {
  const { value, onChange, field, label, isLabelHidden, error, record, autoFocus } = props
  const [typed, setTyped] = useState(() => readableText(value ?? ''))
  // A form may get another value than the one that was typed.
  const shown = storedText(typed) === (value ?? '') ? typed : readableText(value ?? '')
  return (
    <MentionArea
      {...{ label, isLabelHidden, error, autoFocus }}
      subjects={aboutActivity((record ?? {}) as AnyRecord)}
      dir="auto"
      rows={3}
      isRequired={field.is_required}
      value={shown}
      onChange={text => {
        setTyped(text)
        onChange(storedText(text) || null)
      }}
    />
  )
}
