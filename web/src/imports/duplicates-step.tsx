/** The fourth step: the treatment of rows whose record already exists. */
import { Link } from '@tanstack/react-router'
import type { Field } from '../api/api.ts'
import { manyOf } from '../jobs/job.ts'
import { Select } from '../ui/inputs.tsx'
import { Panel } from '../ui/page.tsx'
import { change, type Duplicates, type Import } from './import.ts'
import { StepActions } from './steps.tsx'

type Props = { job: Import; fields: readonly Field[] }

const actions = [
  { id: 'skip', title: 'Skip the row', detail: 'The existing record is not changed.' },
  { id: 'update', title: 'Update the record', detail: 'It gets the values of the row.' },
  {
    id: 'create',
    title: 'Create another one',
    detail: 'A row with a value that must be unique is then rejected.',
  },
] as const

export function DuplicatesStep({ job, fields }: Props) {
  const { by, action } = job.duplicates
  const many = manyOf(job.resource)
  const unique = fields.filter(({ is_active, is_unique }) => is_active && is_unique)
  const chosen = unique.find(({ internal_name }) => internal_name === by)
  const isMapped = job.mapping.some(({ field }) => field.split('.')[0] === by)
  const take = (changes: Partial<Duplicates>) => change(job, { duplicates: { by, action, ...changes } })
  return (
    <>
      <Panel title="Duplicates" className="flex flex-col gap-4 p-4">
        {unique.length === 0 ? (
          <p className="text-ink-soft">
            Every row creates a record. To find existing {many}, the file needs a field with unique values: an
            administrator can make one unique under{' '}
            <Link to="/settings/$page" params={{ page: 'fields' }} className="linked">
              Fields
            </Link>
            .
          </p>
        ) : (
          <Select
            label="Match records by"
            value={by}
            onChange={next =>
              take({ by: next, action: next === null ? 'create' : by === null ? 'skip' : action })
            }
            none="Don’t match: every row is new"
            error={chosen && !isMapped ? `No column is mapped to ${chosen.field_name}.` : undefined}
            choices={unique.map(({ internal_name, field_name }) => ({ id: internal_name, name: field_name }))}
          />
        )}
        {chosen && (
          <fieldset className="flex flex-col gap-2">
            <legend className="mb-1 font-medium text-ink-soft">
              If a record with the same {chosen.field_name} exists
            </legend>
            {actions.map(({ id, title, detail }) => (
              <label key={id} className="flex min-h-6 items-start gap-2">
                <input
                  type="radio"
                  name="duplicates"
                  checked={action === id}
                  onChange={() => take({ action: id })}
                  className="mt-0.5 size-4 accent-accent"
                />
                <span>
                  {title}
                  <span className="block text-sm text-ink-faint">{detail}</span>
                </span>
              </label>
            ))}
          </fieldset>
        )}
      </Panel>
      <StepActions id={job.id} back="values" next="try" />
    </>
  )
}
