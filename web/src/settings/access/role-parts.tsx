/** Parts of the form of a role: the records its users see and change, and fields to choose. */
import { useQueries } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { fieldsQuery } from '../../api/queries.ts'
import { tables } from '../../records/tables.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/inputs.tsx'
import { ChipPicker } from '../chip-picker.tsx'
import type { mayHide } from './role-fields.ts'
import { missingForPages, resourceNames } from './scopes.ts'

/** The resources whose records can be limited for a role. */
const limited = [
  { resource: 'deal', name: 'Deals' },
  { resource: 'contact', name: 'Contacts' },
  { resource: 'company', name: 'Companies' },
  { resource: 'activity', name: 'Activities' },
]
/** The widest first: nobody changes what they don’t see. */
const accessLevels = [
  { id: 'all', name: 'All' },
  { id: 'territory', name: 'Of their territories and own' },
  { id: 'own', name: 'Their own' },
]

const within = (widest: string) => accessLevels.slice(accessLevels.findIndex(({ id }) => id === widest))

type AccessLevels = { readonly [resource: string]: string }

export function RecordAccess(props: {
  visibility: AccessLevels | null
  mayChange: AccessLevels | null
  onChange: (changes: { visibility?: AccessLevels; may_change?: AccessLevels }) => void
  error?: string | undefined
}) {
  const { onChange, error } = props
  const [visibility, mayChange] = [props.visibility ?? {}, props.mayChange ?? {}]
  return (
    <fieldset className="min-w-0" aria-describedby={error ? 'reach-error' : undefined}>
      <legend className="pb-1 font-medium text-ink-soft">Record access</legend>
      <table className="w-full table-fixed">
        <thead>
          <tr className="text-left text-sm text-ink-soft">
            <th scope="col" className="w-24 py-1 font-medium">
              Records
            </th>
            <th scope="col" className="py-1 font-medium">
              Sees
            </th>
            <th scope="col" className="py-1 pl-2 font-medium">
              May change
            </th>
          </tr>
        </thead>
        <tbody>
          {limited.map(({ resource, name }) => {
            const sees = visibility[resource] ?? 'all'
            const changes = mayChange[resource] ?? sees
            const see = (value: string) => {
              const isNarrower = !within(value).some(({ id }) => id === changes)
              onChange({
                visibility: { ...visibility, [resource]: value },
                ...(isNarrower ? { may_change: { ...mayChange, [resource]: value } } : {}),
              })
            }
            return (
              <tr key={resource}>
                <th scope="row" className="py-1 text-left font-normal">
                  {name}
                </th>
                <td className="py-1">
                  <Select
                    label={`Sees ${name}`}
                    isLabelHidden
                    value={sees}
                    onChange={value => see(value ?? 'all')}
                    choices={accessLevels}
                  />
                </td>
                <td className="py-1 pl-2">
                  <Select
                    label={`May change ${name}`}
                    isLabelHidden
                    value={changes}
                    onChange={value => onChange({ may_change: { ...mayChange, [resource]: value ?? 'all' } })}
                    choices={within(sees)}
                  />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {error && (
        <p id="reach-error" className="pt-1 text-sm text-lost">
          {error}
        </p>
      )}
    </fieldset>
  )
}

/** The fields of all resources in a role's notation, such as deal.title, with their labels. */
function useFieldChoices() {
  const sources = Object.values(tables)
  const lists = useQueries({ queries: sources.map(({ resource }) => fieldsQuery(resource)) })
  return sources.flatMap(({ resource, title }, index) =>
    (lists[index]?.data ?? []).flat().map(field => ({
      id: `${resource}.${field.internal_name}`,
      name: `${title} · ${field.field_name}`,
      resource,
      field,
    })),
  )
}

/** Fields of all resources, chosen one by one: those that a role with these scopes may hide or lock. */
export function FieldPicker({
  fits,
  scopes,
  ...props
}: Omit<ComponentProps<typeof ChipPicker>, 'choices' | 'none'> & {
  fits: typeof mayHide
  scopes: readonly string[]
}) {
  const { chosen } = props
  const choices = useFieldChoices().filter(
    ({ id, resource, field }) => chosen.includes(id) || fits(field, scopes.includes(`${resource}:write`)),
  )
  return <ChipPicker {...props} choices={choices} none="Add a field…" />
}

export function FieldNames({ ids }: { ids: readonly string[] }) {
  const choices = useFieldChoices()
  const names = ids.map(id => choices.find(choice => choice.id === id)?.name ?? id)
  return (
    <span className="text-ink-soft" title={names.join(', ')}>
      {names.join(', ') || '—'}
    </span>
  )
}

/** Shows the scopes that the pages need and a role lacks, and adds them. */
export function MissingForPages(props: { scopes: readonly string[]; onAdd: (scopes: string[]) => void }) {
  const { scopes, onAdd } = props
  const missing = missingForPages(scopes)
  return (
    <div role="status" className="empty:hidden">
      {missing.length > 0 && (
        <div className="flex flex-wrap items-center gap-2 rounded-sm bg-warn-soft px-3 py-2 text-warn">
          <p className="min-w-60 grow basis-0">
            The pages need to read this, too: {resourceNames(missing)}. Without it, they stay empty for the
            users of the role.
          </p>
          <Button isSmall onPress={() => onAdd(missing)}>
            Add it
          </Button>
        </div>
      )}
    </div>
  )
}
