/** Scopes as a table: a resource a row, with a box for reading and one for writing. */
import { Checkbox } from '../../ui/inputs.tsx'
import { everything, follow, scopeRows, withScope } from './scopes.ts'

export function ScopeTable(props: {
  scopes: readonly string[]
  /** scopes of roles, which name resources that this page does not know */
  known: readonly string[]
  onChange: (scopes: string[]) => void
  isFixed?: boolean
  error?: string | undefined
}) {
  const { scopes, known, onChange, isFixed = false, error } = props
  const isAll = scopes.includes(everything)
  const box = (scope: string, label: string, isLabelHidden = true) => (
    <Checkbox
      label={label}
      isLabelHidden={isLabelHidden}
      checked={isAll || scopes.includes(scope)}
      disabled={isFixed || isAll}
      onChange={isOn => onChange(withScope(scopes, scope, isOn))}
    />
  )
  return (
    <fieldset className="min-w-0" aria-describedby={error ? 'scopes-error' : undefined}>
      <legend className="pb-1 font-medium text-ink-soft">Permissions</legend>
      <div className="flex flex-wrap gap-x-6">
        <Checkbox
          label="Everything, as an administrator"
          checked={isAll}
          disabled={isFixed}
          onChange={isOn => onChange(withScope(scopes, everything, isOn))}
        />
        {box(follow, 'Follow changes as they happen', false)}
      </div>
      <div className="mt-2 rounded-sm border border-line">
        <table className="w-full">
          <thead>
            <tr className="text-left text-sm text-ink-soft">
              <th scope="col" className="px-3 py-1 font-medium">
                Records
              </th>
              <th scope="col" className="w-16 py-1 font-medium">
                Read
              </th>
              <th scope="col" className="w-16 py-1 font-medium">
                Write
              </th>
            </tr>
          </thead>
          <tbody>
            {scopeRows([...known, ...scopes]).map(({ resource, name, read, write }) => (
              <tr key={resource} className="border-t border-line">
                <th scope="row" className="px-3 py-0.5 text-left font-normal">
                  {name}
                </th>
                <td>{read && box(read, `Read ${name}`)}</td>
                <td>{box(write, `Write ${name}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {error && (
        <p id="scopes-error" role="alert" className="pt-1 text-sm text-lost">
          {error}
        </p>
      )}
    </fieldset>
  )
}
