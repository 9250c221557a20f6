/** Inputs with their label, what is wrong with them, and a hint. Native where that is enough. */
import { type ComponentProps, type ReactNode, useId } from 'react'
import { classes } from './classes.ts'

type Labelled = {
  label: string
  /** what is wrong with the value, read out with the input */
  error?: string | undefined
  hint?: ReactNode
  isRequired?: boolean | undefined
  /** the label is there for screen readers only */
  isBare?: boolean | undefined
}

/** What an input takes to be named and described. */
export type Wiring = {
  id: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: true | undefined
  'aria-required'?: true | undefined
}

/** A label, the input that `children` makes of the wiring, then error and hint. */
export function Labelled(
  props: Labelled & { className?: string | undefined; children: (wiring: Wiring) => ReactNode },
) {
  const { label, error, hint, isRequired, isBare, className, children } = props
  const id = useId()
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div className={classes('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className={isBare ? 'unseen' : 'font-medium text-ink-soft'}>
        {label}
        {isRequired && !isBare && (
          <span className="text-lost" aria-hidden>
            {' '}
            *
          </span>
        )}
      </label>
      {children({
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': error ? true : undefined,
        'aria-required': isRequired ? true : undefined,
      })}
      {error && (
        <p id={`${id}-error`} className="text-sm text-lost">
          {error}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-ink-faint">
          {hint}
        </p>
      )}
    </div>
  )
}

/** What is the label's of an input's properties, and what is the input's own. */
function apart<P extends Labelled & { className?: string | undefined }>(props: P) {
  const { label, error, hint, isRequired, isBare, className, ...own } = props
  return [{ label, error, hint, isRequired, isBare, className }, own] as const
}

type Change = { value: string; onChange: (value: string) => void }

export function TextField(given: Labelled & Change & Omit<ComponentProps<'input'>, 'onChange' | 'value'>) {
  const [labelled, { value, onChange, ...props }] = apart(given)
  return (
    <Labelled {...labelled}>
      {wiring => (
        <input
          {...props}
          {...wiring}
          value={value}
          onChange={e => onChange(e.target.value)}
          className="field-box"
        />
      )}
    </Labelled>
  )
}

export function TextArea(given: Labelled & Change & Omit<ComponentProps<'textarea'>, 'onChange' | 'value'>) {
  const [labelled, { value, onChange, ...props }] = apart(given)
  return (
    <Labelled {...labelled}>
      {wiring => (
        <textarea
          rows={3}
          {...props}
          {...wiring}
          value={value}
          onChange={e => onChange(e.target.value)}
          className="field-box field-sizing-content max-h-96 resize-y"
        />
      )}
    </Labelled>
  )
}

export type Choice = {
  readonly id: string | number
  readonly name: string | null
  readonly isDisabled?: boolean
}

/** A native list of choices; `none` is the text of the empty one. */
export function Select(
  given: Labelled & {
    value: string | number | null
    onChange: (value: string | null) => void
    choices: readonly Choice[]
    none?: string | undefined
  } & Omit<ComponentProps<'select'>, 'onChange' | 'value'>,
) {
  const [labelled, { value, onChange, choices, none, ...props }] = apart(given)
  return (
    <Labelled {...labelled}>
      {wiring => (
        <select
          {...props}
          {...wiring}
          value={value ?? ''}
          onChange={e => onChange(e.target.value === '' ? null : e.target.value)}
          className="field-box"
        >
          {none !== undefined && <option value="">{none}</option>}
          {choices.map(({ id, name, isDisabled }) => (
            <option key={id} value={id} disabled={isDisabled}>
              {name ?? `No. ${id}`}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

export function Checkbox({
  label,
  isBare,
  className,
  checked,
  isMixed,
  onChange,
  ...props
}: { label: string; isBare?: boolean; isMixed?: boolean; onChange: (checked: boolean) => void } & Omit<
  ComponentProps<'input'>,
  'onChange'
>) {
  return (
    <label className={classes('inline-flex min-h-6 items-center gap-2', className)}>
      <input
        {...props}
        type="checkbox"
        checked={checked}
        ref={box => {
          if (box) box.indeterminate = isMixed === true
        }}
        onChange={e => onChange(e.target.checked)}
        className="size-4 accent-accent"
      />
      <span className={isBare ? 'unseen' : ''}>{label}</span>
    </label>
  )
}
