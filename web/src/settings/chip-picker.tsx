/** Several of many: chosen from a list, one after the other, and shown with a button that removes each. */
import { X } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/inputs.tsx'
import { keepFocus } from '../ui/keys.ts'

export function ChipPicker(props: {
  label: string
  hint?: string | undefined
  none: string
  choices: readonly { id: string; name: string }[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
  isRequired?: boolean
  error?: string | undefined
}) {
  const { label, hint, none, choices, chosen, onChange, isRequired, error } = props
  const nameOf = (id: string) => choices.find(choice => choice.id === id)?.name ?? id
  return (
    <div ref={keepFocus} className="flex min-w-0 flex-col gap-1.5">
      <Select
        label={label}
        value={null}
        none={none}
        onChange={value => value && onChange([...chosen, value])}
        choices={choices.filter(({ id }) => !chosen.includes(id))}
        isRequired={isRequired}
        error={error}
        hint={hint}
      />
      {chosen.length > 0 && (
        <ul className="flex flex-wrap gap-1.5" aria-label={`Chosen: ${label}`}>
          {chosen.map(id => (
            <li key={id} className="min-w-0">
              <Button
                isSmall
                aria-label={`Remove ${nameOf(id)}`}
                onPress={() => onChange(chosen.filter(other => other !== id))}
                className="max-w-full"
              >
                <span className="truncate">{nameOf(id)}</span>
                <X size={12} aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
