/** A number input in the reader's notation. A text that is no number stays, and is refused when saved. */
import { type ComponentProps, useState } from 'react'
import { useFormat } from '../format/use-format.tsx'
import { classes } from '../ui/classes.ts'
import { isDecimal, readDecimal, writeDecimal } from './decimal.ts'

type Props = Omit<ComponentProps<'input'>, 'value' | 'onChange'> & {
  value: string | number | null
  onChange: (value: string | null) => void
  /** minimum number of decimals, if there are any */
  digits?: number
}

/** `value` is a decimal ("1234.5"), or the typed text if it is no number. */
export function DecimalBox({ value, onChange, digits, className, ...props }: Props) {
  const { locale } = useFormat()
  const [typed, setTyped] = useState<string | null>(null)
  const meant = (text: string) => (text.trim() === '' ? null : (readDecimal(text, locale) ?? text))
  const isTyped = typed !== null && String(meant(typed)) === String(value)
  const shown = value === null ? '' : isDecimal(value) ? writeDecimal(value, locale, digits) : value
  return (
    <input
      {...props}
      type="text"
      inputMode="decimal"
      autoComplete="off"
      value={isTyped ? typed : shown}
      onChange={event => {
        setTyped(event.target.value)
        onChange(meant(event.target.value))
      }}
      onBlur={event => {
        setTyped(null)
        props.onBlur?.(event)
      }}
      className={classes('field-box tabular', className)}
    />
  )
}
