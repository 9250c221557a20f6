/** A few choices, all visible; one of them, or none unless it is required. */
import { useId } from 'react'
import type { Named } from '../api/api.ts'
import { Group } from './group.tsx'

export function RadioChips(props: {
  label: string
  isLabelHidden?: boolean
  error?: string | undefined
  isRequired?: boolean | undefined
  autoFocus?: boolean | undefined
  /** False if one of the choices says “none” itself */
  hasNone?: boolean
  choices: readonly Named[]
  value: number | string | null
  onChange: (value: number | null) => void
}) {
  const { choices, value, onChange, autoFocus, hasNone = !props.isRequired, ...group } = props
  const name = useId()
  const offered = hasNone ? [{ id: null, name: 'None' }, ...choices] : choices
  return (
    <Group {...group}>
      <div className="flex flex-wrap gap-1.5">
        {offered.map(({ id, name: text }, index) => (
          <label
            key={id}
            className="relative inline-flex min-h-7 items-center rounded-sm border px-2.5
              border-line-strong/60
              text-ink-soft hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft
              has-checked:font-medium has-checked:text-accent-strong has-focus-visible:outline-2
              has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={name}
              autoFocus={autoFocus && (value === id || (value === null && index === 0))}
              checked={value === id}
              onChange={() => onChange(id)}
              className="absolute inset-0 cursor-pointer opacity-0"
            />
            {text}
          </label>
        ))}
      </div>
    </Group>
  )
}
