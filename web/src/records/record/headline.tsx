/** The facts under the title of a record, such as a deal's value, closing date and owner. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Field } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import { classes } from '../../ui/classes.ts'
import { isEmpty } from '../editing/draft.ts'
import { readablePath } from '../tables.ts'
import { headlineOf, isLabelled, isWeighty } from './design.ts'
import { namesOf, type ShownRecord } from './use-record.ts'

export function Headline({ shown: { resource, record, fields } }: { shown: ShownRecord }) {
  const facts = headlineOf(resource, fields).filter(field => !isEmpty(record[field.internal_name]))
  if (facts.length === 0) return null
  return (
    <dl className="flex min-w-0 flex-wrap gap-x-6 gap-y-1 max-sm:gap-x-4 max-sm:gap-y-0.5">
      {facts.map(field => {
        const name = field.internal_name
        const { Cell } = kindOf(field)
        return (
          <div key={name} className="min-w-0 max-sm:flex max-sm:items-center max-sm:gap-1.5">
            <dt
              className={classes('text-sm text-ink-faint', !isLabelled(resource, field) && 'max-sm:sr-only')}
            >
              {field.field_name}
            </dt>
            <dd
              className={classes(
                'min-w-0 truncate leading-6',
                isWeighty(resource, field) && 'text-lg font-semibold',
              )}
            >
              <Linked field={field} value={record[name]}>
                <Cell value={record[name]} field={field} names={namesOf(record)[name]} />
              </Linked>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

/** The name of another record leads to its page. */
function Linked({ field, value, children }: { field: Field; value: unknown; children: ReactNode }) {
  const source = field.related_field?.source
  const path = source && typeof value === 'number' ? readablePath(source, value) : null
  if (path === null) return children
  return (
    <Link
      to={path}
      className="inline-block max-w-full truncate align-bottom text-accent underline underline-offset-2"
    >
      {children}
    </Link>
  )
}
