/** SINGLE_NUMBER and PRODUCT (a count of products): exact decimals (D14). */
import type { Formats } from '../../format/format.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Fitting } from '../../ui/fitting.tsx'
import { Labelled } from '../../ui/inputs.tsx'
import { checkDecimal, isDecimal, plain, readDecimal, writeDecimal } from '../decimal.ts'
import { DecimalBox } from '../decimal-box.tsx'
import type { Kind, OperandProps } from '../kind.ts'
import { operandOf } from '../operand.tsx'

/** In the reader's notation: 10,000.50 may be 10.000,50 elsewhere. */
export function checkNumberOperand(text: string, { locale }: Formats): string | undefined {
  if (isDecimal(text)) return undefined
  return `“${text}” is no number. Write it as ${writeDecimal('10000.5', locale, 2)}.`
}

/** A number in a filter: with a point, in any reader's notation. */
export function DecimalOperand({ value, onChange, label }: OperandProps) {
  return (
    <DecimalBox
      aria-label={label}
      value={value === '' ? null : value}
      onChange={typed => onChange(typed ?? '')}
    />
  )
}

function NumberCell({ value }: { value: number | string }) {
  const format = useFormat()
  return (
    <Fitting
      whole={writeDecimal(value, format.locale)}
      short={format.compactMoney({ value: Number(value) })}
    />
  )
}

/** A number with all its digits in JSON, if the browser can write them. */
function exactNumber(value: number | string): unknown {
  if (typeof value === 'number' || !isDecimal(value)) return value
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }
  return rawJSON ? rawJSON(plain(value)) : Number(value)
}

export const number: Kind<number | string> = {
  Cell: NumberCell,
  Input: ({ value, onChange, field, label, isLabelHidden, error, autoFocus }) => (
    <Labelled {...{ label, isLabelHidden, error }} isRequired={field.is_required}>
      {wiring => <DecimalBox {...wiring} autoFocus={autoFocus} value={value} onChange={onChange} />}
    </Labelled>
  ),
  Operand: operandOf(DecimalOperand),
  checkOperand: checkNumberOperand,
  text: (value, _names, format) => writeDecimal(value, format.locale),
  parse: (typed, _field, format) => (typed.trim() === '' ? null : readDecimal(typed, format?.locale)),
  check: (value, field) => checkDecimal(value, field.config),
  write: exactNumber,
  width: 110,
  align: 'end',
}
