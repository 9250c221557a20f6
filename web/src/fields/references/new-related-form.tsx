/** The form of a new contact or company inside the form of the record that it belongs to. */
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { errorMessage, type Field, type FieldType } from '../../api/api.ts'
import { fieldsQuery, queryClient } from '../../api/queries.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { Group } from '../group.tsx'
import { kindOf } from '../kinds.ts'
import { type Match, useMatches } from './find-records.ts'
import { mailOf, type NewRelated, problemsWithin, textOfNew } from './new-related.ts'

/** The types of the fields that identify a contact or company; the page has those that are not required. */
const askedTypes: ReadonlySet<FieldType> = new Set(['SINGLE_STRING', 'EMAIL', 'PHONE', 'COMPANY_ONBOARD'])

const isAsked = (field: Field) =>
  field.is_active &&
  !field.is_read_only &&
  (field.is_required || (!field.is_custom && askedTypes.has(field.type)))

/** The fields of the form of a new record, as far as they are loaded. */
export function newFieldsOf(resource: string): readonly Field[] {
  return queryClient.getQueryData(fieldsQuery(resource).queryKey)?.flat().filter(isAsked) ?? []
}

export function NewRelatedForm(props: {
  resource: string
  label: string
  error?: string | undefined
  /** by the members of the value */
  errors?: { readonly [member: string]: string } | undefined
  value: NewRelated
  onChange: (value: NewRelated) => void
  onCancel: () => void
  /** chooses an existing record */
  onUse: (found: Match) => void
}) {
  const { resource, label, error, errors = {}, value, onChange, onCancel, onUse } = props
  const latest = useLatest(value)
  const { data: sections = [], error: unread } = useQuery(fieldsQuery(resource))
  const fields = sections.flat().filter(isAsked)
  return (
    <Group label={label} error={error ?? (unread ? errorMessage(unread) : undefined)}>
      <div className="wide rounded-md border border-line bg-canvas p-3">
        <div className="mb-2 flex items-center gap-2">
          <span className="grow font-medium">New {resource}</span>
          <IconButton label={`Don’t create a new ${resource}`} onPress={onCancel}>
            <X size={14} aria-hidden />
          </IconButton>
        </div>
        <div className="grid gap-3 sm:grid-cols-2">
          {fields.map((field, index) => {
            const name = field.internal_name
            const { Input } = kindOf(field)
            return (
              // A new record within a new one has no room in a column.
              <div key={name} data-member={name} className="min-w-0 has-[.wide]:col-span-full">
                <Input
                  field={field}
                  label={field.field_name}
                  autoFocus={index === 0}
                  value={value[name] ?? null}
                  error={errors[name]}
                  errors={problemsWithin(errors, name)}
                  onChange={next => {
                    latest.current = { ...latest.current, [name]: next }
                    onChange(latest.current)
                  }}
                />
              </div>
            )
          })}
        </div>
        <ExistingRecords resource={resource} value={value} onUse={onUse} />
      </div>
    </Group>
  )
}

/** A record of that name or e-mail may already exist: offers it, to avoid a duplicate. */
function ExistingRecords(props: { resource: string; value: NewRelated; onUse: (found: Match) => void }) {
  const { resource, value, onUse } = props
  const mail = mailOf(value)
  const name = textOfNew(value)
  const text = mail || name
  const found = useMatches(resource, text, text.length >= 3)
  const same = (one: string | null | undefined, other: string) =>
    other !== '' && one?.toLocaleLowerCase() === other.toLocaleLowerCase()
  const alike = found.filter(one => same(one.name, name) || same(one.detail, mail)).slice(0, 3)
  return (
    <div role="status" className="mt-3 flex flex-wrap items-center gap-2 empty:hidden">
      {alike.length > 0 && <span className="text-warn">Already exists:</span>}
      {alike.map(one => (
        <Button key={one.id} isSmall onPress={() => onUse(one)}>
          Use {one.name}
          {one.detail && <span className="text-ink-faint">{one.detail}</span>}
        </Button>
      ))}
    </div>
  )
}
