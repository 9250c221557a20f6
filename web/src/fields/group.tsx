/** Several inputs of one value under one label: a group with its name, error and hint. */
import { type ReactNode, useId } from 'react'
import { keepFocus } from '../ui/keys.ts'

export function Group(props: {
  label: string
  isLabelHidden?: boolean | undefined
  error?: string | undefined
  hint?: ReactNode
  isRequired?: boolean | undefined
  children: ReactNode
}) {
  const { label, isLabelHidden, error, hint, isRequired, children } = props
  const id = useId()
  return (
    // biome-ignore lint/a11y/useSemanticElements: the legend of a fieldset can't be laid out like a label
    <div
      ref={keepFocus}
      role="group"
      aria-labelledby={id}
      aria-describedby={error ? `${id}-error` : undefined}
      className="flex min-w-0 flex-col gap-1"
    >
      <span id={id} className={isLabelHidden ? 'unseen' : 'font-medium text-ink-soft'}>
        {label}
        {isRequired && !isLabelHidden && (
          <span className="text-lost" aria-hidden>
            {' '}
            *
          </span>
        )}
      </span>
      {children}
      {error && (
        <p id={`${id}-error`} className="text-sm text-lost">
          {error}
        </p>
      )}
      {hint && <p className="text-sm text-ink-faint">{hint}</p>}
    </div>
  )
}
