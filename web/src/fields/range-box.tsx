/** Two inputs of one kind, from and to: shared by the kinds of ranges. */
import type { ReactNode } from 'react'
import { Group } from './group.tsx'
import type { InputProps } from './kind.ts'

export type Range = { readonly range: { readonly from: string; readonly to: string } }

type EndProps = {
  value: string | null
  onChange: (value: string | null) => void
  'aria-label': string
  'aria-invalid'?: true | undefined
  autoFocus?: boolean | undefined
}

/** An end with a native input. It is one stable component, so that typing keeps the focus. */
export function nativeEnd(type: 'date' | 'time', max?: string): (props: EndProps) => ReactNode {
  return ({ value, onChange, ...end }) => (
    <input
      {...end}
      type={type}
      max={max}
      value={value ?? ''}
      onChange={event => onChange(event.target.value || null)}
      className="field-box"
    />
  )
}

/** A range with one end only has an empty other end, which `checkRange` refuses. */
export function RangeBox(props: InputProps<Range> & { End: (props: EndProps) => ReactNode; hint?: string }) {
  const { value, onChange, field, label, isLabelHidden, error, autoFocus, End, hint } = props
  const { from, to } = value?.range ?? { from: '', to: '' }
  const change = (from: string | null, to: string | null) =>
    onChange(from || to ? { range: { from: from ?? '', to: to ?? '' } } : null)
  const invalid = error ? true : undefined
  const ends = (
    <span className="flex min-w-0 flex-wrap items-center gap-1.5">
      <span className="min-w-0 flex-1 basis-28">
        <End
          aria-label={`${label}, from`}
          aria-invalid={invalid}
          autoFocus={autoFocus}
          value={from || null}
          onChange={one => change(one, to)}
        />
      </span>
      <span aria-hidden className="text-ink-faint">
        –
      </span>
      <span className="min-w-0 flex-1 basis-28">
        <End
          aria-label={`${label}, to`}
          aria-invalid={invalid}
          value={to || null}
          onChange={one => change(from, one)}
        />
      </span>
    </span>
  )
  return (
    <Group {...{ label, isLabelHidden, error, hint }} isRequired={field.is_required}>
      {ends}
    </Group>
  )
}

export function checkRange(
  { range: { from, to } }: Range,
  ends: { mayRunBackwards: boolean },
): string | undefined {
  if (!from || !to) return 'Both values are required.'
  return from > to && !ends.mayRunBackwards ? 'Must not end before it begins.' : undefined
}

/** "a – b", "a/b" or "a to b" as two texts. */
export function readRange(
  text: string,
  readEnd: (text: string) => string | undefined,
): Range | null | undefined {
  if (text.trim() === '') return null
  const [one, other, ...more] = text.split(/\s+[–—-]\s+|\s+to\s+|\//)
  const [from, to] = [readEnd(one ?? ''), readEnd(other ?? '')]
  return from && to && more.length === 0 ? { range: { from, to } } : undefined
}
