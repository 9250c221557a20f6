/** An operand of a filter as people say it: the option's name, the record's name, the date. */
import type { Field } from '../api/api.ts'
import { kindOf, sayValue } from '../fields/kinds.ts'
import { useName } from '../fields/references/found.ts'
import type { Formats } from '../format/format.ts'
import { useFormat } from '../format/use-format.tsx'
import type { Reached } from './reach.ts'

export function OperandText({ reached, value }: { reached: Reached | null; value: string }) {
  const format = useFormat()
  const source = reached && !reached.member ? reached.field.related_field?.source : undefined
  const option = reached?.member ? undefined : reached?.field.options?.find(({ id }) => String(id) === value)
  const id = source !== undefined && !option && /^\d{1,15}$/.test(value) ? Number(value) : null
  const name = useName(source ?? '', id, undefined)
  if (value === '') return <>“”</>
  if (!reached || reached.member) return <>{value}</>
  const { Unit } = kindOf(reached.field)
  return (
    <>
      {option?.name ?? name ?? (source ? value : said(value, reached.field, format))}
      {Unit && (
        <>
          {' '}
          <Unit />
        </>
      )}
    </>
  )
}

function said(value: string, field: Field, format: Formats): string {
  const kind = kindOf(field)
  try {
    const meant = kind.parse(value, field)
    return meant === undefined || meant === null ? value : sayValue(meant, null, format, field)
  } catch {
    // What a link has may be no value of the kind.
    return value
  }
}
