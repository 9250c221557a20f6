/** An operand of a filter in words: the option's name, the record's name, the date. */
import type { Field } from '../api/api.ts'
import { displayValue, kindOf } from '../fields/kinds.ts'
import { useInactiveOptions } from '../fields/options.ts'
import { useName } from '../fields/references/find-records.ts'
import type { Formats } from '../format/format.ts'
import { useFormat } from '../format/use-format.tsx'
import type { ResolvedPath } from './field-path.ts'

export function OperandText({ resolved, value }: { resolved: ResolvedPath | null; value: string }) {
  const format = useFormat()
  const source = resolved && !resolved.member ? resolved.field.related_field?.source : undefined
  const own = resolved?.member ? undefined : resolved?.field
  const offered = own?.options?.find(({ id }) => String(id) === value)
  const inactive = useInactiveOptions(offered ? undefined : own)
  const option = offered ?? inactive.find(({ id }) => String(id) === value)
  const id = source !== undefined && !option && /^\d{1,15}$/.test(value) ? Number(value) : null
  const name = useName(source ?? '', id, undefined)
  if (value === '') return <>“”</>
  if (!resolved || resolved.member) return <>{value}</>
  const { Unit } = kindOf(resolved.field)
  return (
    <>
      {option?.name ?? name ?? (source ? value : displayOperand(value, resolved.field, format))}
      {Unit && (
        <>
          {' '}
          <Unit />
        </>
      )}
    </>
  )
}

function displayOperand(value: string, field: Field, format: Formats): string {
  const kind = kindOf(field)
  try {
    const meant = kind.parse(value, field)
    return meant === undefined || meant === null ? value : displayValue(meant, null, format, field)
  } catch {
    // The value of a link may be invalid.
    return value
  }
}
