/** Parts of the form of a role: which records its users see and change, and fields to choose. */
import { useQueries } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { fieldsQuery } from '../api/queries.ts'
import { tables } from '../records/tables.ts'
import { Select } from '../ui/inputs.tsx'
import { ChipPicker } from './chip-picker.tsx'

/** The resources of whose records a role may show some only. */
const limited = [
  { resource: 'deal', name: 'Deals' },
  { resource: 'contact', name: 'Contacts' },
  { resource: 'company', name: 'Companies' },
  { resource: 'activity', name: 'Activities' },
]
const reaches = [
  { id: 'all', name: 'All' },
  { id: 'territory', name: 'Of their territories and own' },
  { id: 'own', name: 'Their own' },
]

type Reaches = { readonly [resource: string]: string }

export function Reach(props: {
  visibility: Reaches | null
  mayChange: Reaches | null
  onChange: (changes: { visibility: Reaches } | { may_change: Reaches }) => void
  error?: string | undefined
}) {
  const { onChange, error } = props
  const [visibility, mayChange] = [props.visibility ?? {}, props.mayChange ?? {}]
  return (
    <fieldset className="min-w-0" aria-describedby={error ? 'reach-error' : undefined}>
      <legend className="pb-1 font-medium text-ink-soft">Which records</legend>
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
            return (
              <tr key={resource}>
                <th scope="row" className="py-1 text-left font-normal">
                  {name}
                </th>
                <td className="py-1">
                  <Select
                    label={`Sees ${name}`}
                    isBare
                    value={sees}
                    onChange={value =>
                      onChange({ visibility: { ...visibility, [resource]: value ?? 'all' } })
                    }
                    choices={reaches}
                  />
                </td>
                <td className="py-1 pl-2">
                  <Select
                    label={`May change ${name}`}
                    isBare
                    value={mayChange[resource] ?? sees}
                    onChange={value => onChange({ may_change: { ...mayChange, [resource]: value ?? 'all' } })}
                    choices={reaches}
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

/** Fields of all resources, chosen one after the other. */
export function FieldPicker(props: Omit<ComponentProps<typeof ChipPicker>, 'choices' | 'none'>) {
  const sources = Object.values(tables)
  const lists = useQueries({ queries: sources.map(({ resource }) => fieldsQuery(resource)) })
  const choices = sources.flatMap(({ resource, title }, index) =>
    (lists[index]?.data ?? []).flat().map(field => ({
      id: `${resource}.${field.internal_name}`,
      name: `${title} · ${field.field_name}`,
    })),
  )
  return <ChipPicker {...props} choices={choices} none="Add a field…" />
}
