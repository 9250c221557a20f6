/** The rows of a table on a phone: cards of two lines, of which only those in view are drawn. */
import { useRef } from 'react'
import type { AnyRecord, Field } from '../../api/api.ts'
import type { ListRequest } from '../../api/queries.ts'
import { kindOf } from '../../fields/kinds.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { LoadError } from '../../shell/load-error.tsx'
import { Skeleton } from '../../ui/elements.tsx'
import type { Section } from '../groups/grouping.ts'
import type { Groups } from '../groups/use-groups.ts'
import type { Layout } from './layout.ts'
import { Sum } from './sum.tsx'
import { GroupLabel } from './table-group.tsx'
import { rowsIn, useScroll } from './use-scroll.ts'
import { rowsMax, type Total, useWindow } from './use-window.ts'

const height = 64

type Props = {
  resource: string
  title: string
  /** the fields of a record's name, which heads its card */
  nameFields: readonly string[]
  request: ListRequest
  layout: Layout
  href: (id: number) => string
  onOpen: (id: number) => void
  total: Total | null
  /** null: the rows are in no groups */
  groups: Groups | null
  /** an error that the page shows already */
  failure: unknown
}

export function Cards(props: Props) {
  const { resource, title, nameFields, request, layout, href, onOpen, total, groups, failure } = props
  const scroller = useRef<HTMLDivElement>(null)
  const sight = useScroll(scroller)
  const from = Math.floor(sight.top / height)
  const to = Math.ceil((sight.top + sight.height) / height)
  const window = useWindow(resource, request, { first: from, last: to }, groups)
  const count = Math.min(groups ? groups.rows : (total?.count ?? 12), rowsMax)
  const others = layout.columns
    .map(({ field }) => field)
    .filter(one => !nameFields.includes(one.internal_name))
  const amount = others.find(field => kindOf(field).align === 'end')
  const details = others.filter(field => field !== amount).slice(0, 3)
  return (
    <>
      <LoadError error={window.error === failure ? null : window.error} onRetry={window.retry} />
      <div ref={scroller} className="min-h-0 grow overflow-auto border-t border-line">
        <ul aria-label={title} className="relative" style={{ height: count * height }}>
          {rowsIn(from, to, count, -1).map(index => {
            const record = window.rowAt(index)
            const group = window.groupAt(index)
            return (
              <li
                key={index}
                aria-setsize={count}
                aria-posinset={index + 1}
                className="absolute inset-x-0 border-b border-line bg-surface"
                style={{ top: index * height, height }}
              >
                {group ? (
                  <GroupButton {...{ group, amount }} onPress={() => groups?.toggle(group.key)} />
                ) : record ? (
                  <a
                    href={href(record.id)}
                    onClick={event => {
                      if (event.ctrlKey || event.metaKey || event.shiftKey) return
                      event.preventDefault()
                      onOpen(record.id)
                    }}
                    className="flex h-full flex-col justify-center gap-0.5 px-4"
                  >
                    <span className="flex items-baseline gap-3">
                      <span className="min-w-0 grow truncate font-medium" dir="auto">
                        {nameOf(record)}
                      </span>
                      {amount && (
                        <span className="max-w-3/4 shrink-0 text-end">
                          <Value record={record} field={amount} />
                        </span>
                      )}
                    </span>
                    <span
                      className="flex items-center gap-1.5 overflow-hidden text-sm whitespace-nowrap
                        text-ink-soft"
                    >
                      {details.map((field, place) => (
                        <span
                          key={field.internal_name}
                          className={
                            place < details.length - 1
                              ? 'inline-flex shrink-0 items-center gap-1.5'
                              : 'truncate'
                          }
                        >
                          {place > 0 && hasValue(record, field) && '· '}
                          <Value record={record} field={field} />
                        </span>
                      ))}
                    </span>
                  </a>
                ) : (
                  <span className="flex h-full flex-col justify-center gap-2 px-4">
                    <Skeleton className="h-3 w-3/5" />
                    <Skeleton className="h-3 w-2/5" />
                  </span>
                )}
              </li>
            )
          })}
        </ul>
      </div>
    </>
  )
}

/** The header of a group, which collapses it or opens it. */
function GroupButton(props: { group: Section; amount: Field | undefined; onPress: () => void }) {
  const { group, amount, onPress } = props
  return (
    <button
      type="button"
      aria-expanded={!group.isCollapsed}
      onClick={onPress}
      className="flex size-full items-center gap-2 bg-sunken px-4 text-start font-medium"
    >
      <GroupLabel group={group} />
      <span className="grow" />
      {amount && <Sum sums={group.sums} name={amount.internal_name} />}
    </button>
  )
}

const hasValue = (record: AnyRecord, field: Field) =>
  record[field.internal_name] !== null && record[field.internal_name] !== undefined

function Value({ record, field }: { record: AnyRecord; field: Field }) {
  const name = field.internal_name
  const { Cell } = kindOf(field)
  return hasValue(record, field) ? (
    <Cell value={record[name]} field={field} names={record._expanded?.[name]} />
  ) : null
}
