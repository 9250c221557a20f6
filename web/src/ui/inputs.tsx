/** Inputs with their label, error and hint. Native where that is enough. */
import { type ComponentProps, type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { classes } from './classes.ts'

type Labelled = {
  label: string
  /** the problem of the value, announced with the input */
  error?: string | undefined
  hint?: ReactNode
  isRequired?: boolean | undefined
  /** True if the label is for screen readers only */
  isLabelHidden?: boolean | undefined
}

/** The attributes that connect an input with its label, error and hint. */
export type Wiring = {
  id: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: true | undefined
  'aria-required'?: true | undefined
}

/** A label, the input that `children` renders with the wiring, then error and hint. */
export function Labelled(
  props: Labelled & { className?: string | undefined; children: (wiring: Wiring) => ReactNode },
) {
  const { label, error, hint, isRequired, isLabelHidden, className, children } = props
  const id = useId()
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div className={classes('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className={isLabelHidden ? 'unseen' : 'font-medium text-ink-soft'}>
        {label}
        {isRequired && !isLabelHidden && (
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

/** Splits the props of an input into those of the label and those of the native element. */
function splitLabelProps<P extends Labelled & { className?: string | undefined }>(props: P) {
  const { label, error, hint, isRequired, isLabelHidden, className, ...own } = props
  return [{ label, error, hint, isRequired, isLabelHidden, className }, own] as const
}

type Change = { value: string; onChange: (value: string) => void }

export function TextField(props: Labelled & Change & Omit<ComponentProps<'input'>, 'onChange' | 'value'>) {
  const [labelled, { value, onChange, ...native }] = splitLabelProps(props)
  return (
    <Labelled {...labelled}>
      {wiring => (
        <input
          {...native}
          {...wiring}
          value={value}
          onChange={e => onChange(e.target.value)}
          className="field-box"
        />
      )}
    </Labelled>
  )
}

export function TextArea(props: Labelled & Change & Omit<ComponentProps<'textarea'>, 'onChange' | 'value'>) {
  const [labelled, { value, onChange, ...native }] = splitLabelProps(props)
  return (
    <Labelled {...labelled}>
      {wiring => (
        <textarea
          rows={3}
          {...native}
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

/**
 * A native list of choices; `none` is the text of the empty one. A value that is no choice has one of its
 * own: browsers would show the first choice instead, which could not be chosen then.
 */
export function Select(
  props: Labelled & {
    value: string | number | null
    onChange: (value: string | null) => void
    choices: readonly Choice[]
    none?: string | undefined
  } & Omit<ComponentProps<'select'>, 'onChange' | 'value'>,
) {
  const [labelled, { value, onChange, choices, none, ...native }] = splitLabelProps(props)
  const chosen = String(value ?? '')
  const isChoice = chosen === '' ? none !== undefined : choices.some(({ id }) => String(id) === chosen)
  return (
    <Labelled {...labelled}>
      {wiring => (
        <select
          {...native}
          {...wiring}
          value={value ?? ''}
          onChange={e => onChange(e.target.value === '' ? null : e.target.value)}
          className="field-box"
        >
          {none !== undefined && <option value="">{none}</option>}
          {!isChoice && (
            <option value={chosen} hidden={chosen === ''}>
              {/^\d+$/.test(chosen) ? `No. ${chosen}` : chosen}
            </option>
          )}
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

/**
 * The inputs of a form, which take nothing while it is saved: what were typed then would be neither saved nor
 * kept. The focus is back after a refusal.
 */
export function SavedInputs({ isSaving, children }: { isSaving: boolean; children: ReactNode }) {
  const inputs = useRef<HTMLFieldSetElement>(null)
  const left = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const { activeElement } = document
    if (!isSaving) left.current?.focus()
    left.current = isSaving && inputs.current?.contains(activeElement) ? (activeElement as HTMLElement) : null
  }, [isSaving])
  return (
    <fieldset ref={inputs} disabled={isSaving} className="contents">
      {children}
    </fieldset>
  )
}

export function Checkbox({
  label,
  isLabelHidden,
  className,
  checked,
  isMixed,
  onChange,
  ...props
}: { label: string; isLabelHidden?: boolean; isMixed?: boolean; onChange: (checked: boolean) => void } & Omit<
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
      <span className={isLabelHidden ? 'unseen' : ''}>{label}</span>
    </label>
  )
}
