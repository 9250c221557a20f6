/** The second step: the mapping of the file's columns. */
import { ChevronDown, Plus } from 'lucide-react'
import { type KeyboardEvent, lazy, Suspense, useRef, useState } from 'react'
import { Dialog, DialogTrigger } from 'react-aria-components'
import { flushSync } from 'react-dom'
import type { Field } from '../api/api.ts'
import { useFormat } from '../format/use-format.tsx'
import { manyOf } from '../jobs/job.ts'
import { CancelJob } from '../jobs/progress.tsx'
import { FieldPicker } from '../list/field-picker.tsx'
import { may, useMe } from '../shell/me.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Popover } from '../ui/menu.tsx'
import { Panel } from '../ui/page.tsx'
import { announce } from '../ui/toast.tsx'
import { textOf } from './cells.ts'
import { DefaultsPanel } from './defaults-panel.tsx'
import { answer, type Column, change, type Import, type Target } from './import.ts'
import { missingLabels, unmappedColumns } from './missing-fields.ts'
import { focusHeading, StepActions } from './steps.tsx'

const ColumnField = lazy(() => import('./column-field.tsx').then(module => ({ default: module.ColumnField })))

type Props = { job: Import; fields: readonly Field[] }

export function ColumnsStep({ job, fields }: Props) {
  const format = useFormat()
  const { mapping, columns, targets } = job
  const byColumn = new Map(mapping.map(({ column, field }) => [column, field]))
  const left = missingLabels(job, fields)
  const mayMake = may(useMe(), 'field:write')
  const [made, setMade] = useState<number | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const open = unmappedColumns(job)
  const take = (column: number, field: string | null) => {
    const before = answer(job, column, field)
    if (before) announce(`${before.name} is not imported any more.`)
  }
  return (
    <>
      <Panel
        title="Map columns to fields"
        detail={
          <>
            {format.counted(job.total ?? 0, 'row', 'rows')}, {byColumn.size} of{' '}
            {format.counted(columns.length, 'column', 'columns')} imported.
            <span className="max-sm:hidden"> Alt with ↑ or ↓ goes to another column.</span>
          </>
        }
        actions={
          <CancelJob job={job} variant="quiet" isSmall>
            Discard the file
          </CancelJob>
        }
      >
        {open.length > 0 && (
          <div
            role="status"
            className="m-4 flex flex-wrap items-center gap-2 rounded-sm bg-warn-soft px-3 py-2"
          >
            <p className="grow text-warn">
              {format.counted(open.length, 'column is', 'columns are')} not mapped yet. Before the import can
              start, choose a field for each, or leave it out.
            </p>
            <Button
              isSmall
              onPress={() => {
                change(job, {}, { confirm: true })
                // This button disappears with the last open column.
                focusHeading()
              }}
            >
              {acceptance(open)}
            </Button>
          </div>
        )}
        {left.length > 0 && (
          <p role="status" className="m-4 rounded-sm bg-warn-soft px-3 py-2 text-warn">
            No column is mapped to {left.join(', ')}, which all {manyOf(job.resource)} require: rows will be
            rejected unless you choose a default value below.
          </p>
        )}
        <ul ref={list} className="divide-y divide-line" onKeyDown={moveFocus}>
          {columns.map((column, index) => (
            <ColumnRow
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is known by its place
              key={index}
              column={column}
              targets={targets}
              resource={job.resource}
              field={byColumn.get(index) ?? null}
              onTake={field => take(index, field)}
              onAnswer={field => {
                take(index, field)
                // The pressed button disappears.
                buttonsIn(list.current)[index]?.focus()
              }}
              onMake={mayMake ? () => setMade(index) : null}
            />
          ))}
        </ul>
      </Panel>
      <DefaultsPanel job={job} fields={fields} />
      {made !== null && (
        <Suspense>
          <ColumnField
            job={job}
            column={columns[made]!}
            onCreated={field => take(made, field)}
            onClose={() => {
              flushSync(() => setMade(null))
              // The button that opened it is gone, and the focus with it.
              buttonsIn(list.current)[made]?.focus()
            }}
          />
        </Suspense>
      )}
      <StepActions id={job.id} next="values" />
    </>
  )
}

function acceptance(open: readonly Column[]): string {
  const isOne = open.length === 1
  if (open.some(({ guess }) => guess)) return isOne ? 'Accept the suggestion' : 'Accept all suggestions'
  return isOne ? 'Leave it out' : 'Leave all of them out'
}

const buttonsIn = (list: HTMLElement | null) => [
  ...(list?.querySelectorAll<HTMLElement>('[data-becomes]') ?? []),
]

/** Alt and an arrow move to the next column's button, and back. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!by || !event.altKey) return
  const buttons = buttonsIn(event.currentTarget)
  const at = buttons.indexOf(document.activeElement as HTMLElement)
  if (at < 0) return
  event.preventDefault()
  buttons[at + by]?.focus()
}

const nothing = 'Not imported'
const unanswered = 'Not mapped yet'

function ColumnRow(props: {
  column: Column
  targets: readonly Target[]
  resource: string
  field: string | null
  onTake: (field: string | null) => void
  /** the same, by a button of its row */
  onAnswer: (field: string | null) => void
  /** creates a field for it; null without the right */
  onMake: (() => void) | null
}) {
  const { column, targets, resource, field, onTake, onAnswer, onMake } = props
  const [isOpen, setOpen] = useState(false)
  const isOpenYet = column.state === 'open'
  const labelOf = (target: string | null) => targets.find(one => one.field === target)?.label
  const label = labelOf(field) ?? (isOpenYet ? unanswered : nothing)
  const guess = isOpenYet ? labelOf(column.guess) : undefined
  const samples = column.samples.map(textOf)
  return (
    <li className="grid items-center gap-x-4 gap-y-1 px-4 py-2 sm:grid-cols-[1fr_1.4fr_1fr]">
      <span className="min-w-0 font-medium break-words" dir="auto">
        {column.name}
      </span>
      <span className="min-w-0 truncate text-ink-soft" dir="auto" title={samples.join('\n')}>
        {samples.join(' · ') || 'No values in the first rows'}
      </span>
      <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
        <Button
          data-becomes
          aria-label={`Field of ${column.name}: ${label}`}
          className={classes(
            'w-full min-w-0 justify-between!',
            isOpenYet ? 'text-warn' : !field && 'text-ink-faint',
          )}
        >
          <span className="min-w-0 truncate">{label}</span>
          <ChevronDown size={14} aria-hidden />
        </Button>
        <Popover placement="bottom end" className="w-80 max-w-[calc(100vw-16px)]">
          <Dialog aria-label={`Field of ${column.name}`} className="outline-none">
            <FieldPicker
              label={`Field of ${column.name}`}
              fields={[
                { internal_name: '', field_name: nothing, section: 'Leave out' },
                ...listed(targets, resource),
              ]}
              onPick={({ internal_name }) => {
                setOpen(false)
                onTake(internal_name || null)
              }}
            />
            {onMake && (
              <Button
                variant="quiet"
                className="mt-1 w-full justify-start! px-2!"
                onPress={() => {
                  setOpen(false)
                  onMake()
                }}
              >
                <Plus size={14} aria-hidden /> Create a field…
              </Button>
            )}
          </Dialog>
        </Popover>
      </DialogTrigger>
      {column.reason && (
        <div className="flex flex-wrap items-center justify-end gap-2 text-sm text-ink-soft sm:col-span-3">
          <span className="grow">{column.reason}</span>
          {guess && (
            <Button isSmall onPress={() => onAnswer(column.guess)}>
              Use {guess}
            </Button>
          )}
          {isOpenYet && (
            <Button isSmall aria-label={`Leave out ${column.name}`} onPress={() => onAnswer(null)}>
              Leave out
            </Button>
          )}
        </div>
      )}
    </li>
  )
}

/** The targets in the order of the picker: the record's own, then those of the records that it points to. */
function listed(targets: readonly Target[], resource: string) {
  const own = `Of the ${resource}`
  return targets.map(({ field, label }) => {
    const [first = '', ...more] = label.split(': ')
    const isOfOther =
      more.length > 0 && targets.some(one => one.label === first && one.field === field.split('.')[0])
    return { internal_name: field, field_name: label, section: isOfOther ? first : own }
  })
}
