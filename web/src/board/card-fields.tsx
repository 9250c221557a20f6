/** The fields that a pipeline has chosen for its cards. Loaded for such pipelines alone: needs all kinds. */
import { useQuery } from '@tanstack/react-query'
import type { Field } from '../api/api.ts'
import { fieldsQuery } from '../api/queries.ts'
import { displayValue } from '../fields/kinds.ts'
import { useFormat } from '../format/use-format.tsx'
import type { Deal } from './model.ts'

/** Some of the fields; empty ones are left out. */
export function CardFields({ deal, names }: { deal: Deal; names: readonly string[] }) {
  const { data } = useQuery(fieldsQuery('deal'))
  const fields = data?.flat() ?? []
  return names.flatMap(name => {
    const field = fields.find(({ internal_name }) => internal_name === name)
    return field && !isBlank(deal[name]) ? <CardField key={name} deal={deal} field={field} /> : []
  })
}

const isBlank = (value: unknown) => (value ?? '') === '' || (Array.isArray(value) && value.length === 0)

function CardField({ deal, field }: { deal: Deal; field: Field }) {
  const format = useFormat()
  const { internal_name: name, field_name: label } = field
  const text = displayValue(deal[name], deal._expanded?.[name], format, field)
  return (
    <span title={`${label}: ${text}`} dir="auto" className="min-w-0 shrink truncate">
      <span className="unseen">{label}: </span>
      {text}
    </span>
  )
}
