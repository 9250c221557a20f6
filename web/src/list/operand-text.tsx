/** An operand of a filter as people say it: the option's name, the record's name, the date. */
import { useQuery } from '@tanstack/react-query'
import type { Field } from '../api/api.ts'
import { kindOf } from '../fields/kinds.ts'
import type { Formats } from '../format/format.ts'
import { useFormat } from '../format/use-format.tsx'
import type { Reached } from './reach.ts'
import { nameQuery } from './use-fields.ts'

export function OperandText({ reached, value }: { reached: Reached | null; value: string }) {
  const format = useFormat()
  const source = reached && !reached.member ? reached.field.related_field?.source : undefined
  const option = reached?.member ? undefined : reached?.field.options?.find(({ id }) => String(id) === value)
  const { data: name } = useQuery({
    ...nameQuery(source ?? '', value),
    enabled: source !== undefined && !option && /^\d+$/.test(value),
  })
  if (value === '') return <>“”</>
  if (!reached || reached.member) return <>{value}</>
  return <>{option?.name ?? name ?? (source ? value : said(value, reached.field, format))}</>
}

function said(value: string, field: Field, format: Formats): string {
  const kind = kindOf(field)
  try {
    const meant = kind.parse(value, field)
    return meant === undefined || meant === null ? value : kind.text(meant, null, format, field)
  } catch {
    // What a link has may be no value of the kind.
    return value
  }
}
