/** The deals (and people) of a contact, company or product. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import type { Field } from '../../api/api.ts'
import { expandable, fieldsQuery, pageQuery } from '../../api/queries.ts'
import { kindOf } from '../../fields/kinds.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Loading } from '../../shell/load-error.tsx'
import { may, useMe, useReadOnlyReason } from '../../shell/me.ts'
import { openNew } from '../../shell/new-record.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/elements.tsx'
import { isEmpty } from '../editing/draft.ts'
import { recordPath, tables } from '../tables.ts'
import { namesOf, type ShownRecord } from './use-record.ts'

/** The fields that identify a record in the list. */
const summaryFields: { readonly [resource: string]: readonly string[] } = {
  deal: ['pipeline_stage', 'deal_value', 'sales_owner'],
  contact: ['job_title', 'emails'],
}

/** The fields of a resource that point to another one; product lines do it by a member. */
function pointing(fields: readonly Field[], to: string): string[] {
  const named = fields
    .filter(field => field.is_active && field.is_filterable && !field.is_read_only)
    .filter(({ related_field, is_custom }) => related_field?.source === to && !is_custom)
    .map(({ internal_name }) => internal_name)
  return to === 'product' ? ['deal_value.products'] : named
}

export const hasRelated = (resource: string): boolean => ['contact', 'company', 'product'].includes(resource)

export function Related({ shown }: { shown: ShownRecord }) {
  const me = useMe()
  const lists = (
    shown.resource === 'company' ? (['deals', 'contacts'] as const) : (['deals'] as const)
  ).filter(of => may(me, `${tables[of].resource}:read`))
  if (lists.length === 0) return <EmptyState title="Your role can’t see related records." />
  return (
    <div className="flex flex-col gap-5">
      {lists.map(of => (
        <RelatedList key={of} shown={shown} of={of} />
      ))}
    </div>
  )
}

function RelatedList({ shown: { resource, record }, of }: { shown: ShownRecord; of: 'deals' | 'contacts' }) {
  const table = tables[of]
  const { data: sections } = useSuspenseQuery(fieldsQuery(table.resource))
  const fields = sections.flat()
  const reason = useReadOnlyReason(table.resource)
  const by = pointing(fields, resource)
  // A deal of a contact is one of their company.
  const company = resource === 'contact' && of === 'deals' && !isEmpty(record.company)
  const prefill = by[0] ? { [by[0]]: record.id, ...(company ? { company: record.company } : {}) } : {}
  const conditions = by.map(name => `${name}:eq(${record.id})`)
  const filter = conditions.length > 1 ? `or(${conditions.join(',')})` : conditions[0]
  const request = { filter: filter ?? '', sort: 'updated_at:desc', expand: expandable(sections) }
  const read = useQuery({ ...pageQuery(table.resource, request, 1, 50), enabled: by.length > 0 })
  const { data } = read
  const total = data?.meta.total ?? 0
  const totalText = useFormat().total(total, data?.meta.totalIsEstimate ?? false)
  return (
    <section aria-labelledby={`related-${of}`}>
      <div className="mb-1 flex items-center gap-2">
        <h3 id={`related-${of}`} className="font-semibold">
          {table.title} {data && <span className="font-normal text-ink-faint">{totalText}</span>}
        </h3>
        <span className="grow" />
        {resource !== 'product' && (
          <Button variant="quiet" isSmall reason={reason} onPress={() => openNew(table.resource, prefill)}>
            <Plus size={14} aria-hidden /> New {table.one}
          </Button>
        )}
      </div>
      {by.length > 0 ? (
        <Loading of={[read]} className="h-24 w-full" />
      ) : (
        <EmptyState title={`Your role can’t see which ${table.title.toLowerCase()} are related.`} />
      )}
      {data && total === 0 && <EmptyState title={`No ${table.title.toLowerCase()} yet.`} />}
      {data && total > 0 && (
        <ul className="divide-y divide-line rounded-md border border-line">
          {data.data.map(one => (
            <li key={one.id} className="flex flex-wrap items-center gap-x-4 gap-y-0.5 px-3 py-2">
              <Link
                to={recordPath(table.resource, one.id)}
                dir="auto"
                className="min-w-0 grow basis-48 py-0.5 font-medium hover:underline"
              >
                {nameOf(one)}
              </Link>
              {summaryFields[table.resource]?.map(name => {
                const field = fields.find(({ internal_name }) => internal_name === name)
                if (!field || isEmpty(one[name])) return null
                const { Cell } = kindOf(field)
                return (
                  <span key={name} className="max-w-60 truncate text-ink-soft">
                    <Cell value={one[name]} field={field} names={namesOf(one)[name]} />
                  </span>
                )
              })}
            </li>
          ))}
        </ul>
      )}
      {total > 50 && (
        <p className="pt-2">
          <Link to="/$table" params={{ table: of }} search={{ filter: filter ?? '' }} className="linked">
            Show all {totalText}
          </Link>
        </p>
      )}
    </section>
  )
}
