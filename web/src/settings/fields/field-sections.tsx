/** The sections of a form with their fields: dragged, or moved by buttons. */
import { List } from 'lucide-react'
import type { Field } from '../../api/api.ts'
import { hasOwnOptions, typeInfo } from '../../fields/custom-types.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Badge } from '../../ui/elements.tsx'
import { moved, type Place, stepOf, withFieldAt } from '../../ui/order.ts'
import { Panel } from '../../ui/page.tsx'
import { SortButtons, SortHandle, type Sorting, sortLook, sortRow, useSorting } from '../../ui/sortable.tsx'
import { DeleteButton, EditButton } from '../row-buttons.tsx'
import type { OpenFieldDialog } from './fields.tsx'
import { arrange, formOf } from './form-order.ts'

type Props = {
  source: string
  sections: readonly (readonly Field[])[]
  reason: string | undefined
  onOpen: (opened: OpenFieldDialog) => void
}

export function FieldSections({ source, sections, reason, onOpen }: Props) {
  const form = formOf(sections)
  const nameOf = (name: string) =>
    sections.flat().find(field => field.internal_name === name)?.field_name ?? name
  const place = (name: string, to: Place | null) => {
    if (!to) return
    const next = withFieldAt(form, name, to)
    if (JSON.stringify(next) === JSON.stringify(form)) return
    const part = next.find(({ fields }) => fields.includes(name))!
    const at = part.fields.indexOf(name) + 1
    const message = `“${nameOf(name)}” is field ${at} of ${part.fields.length} in “${part.section}” now`
    void arrange(source, sections, next, message)
  }
  const sorting = useSorting(place)
  const moveSection = (index: number, before: number) => {
    const next = moved(form, index, before)
    const at = next.indexOf(form[index]!) + 1
    void arrange(source, sections, next, `“${form[index]!.section}” is section ${at} of ${next.length} now`)
  }
  return (
    <div ref={sorting.root} className="flex flex-col gap-4">
      {sections.map((fields, index) => {
        const section = fields[0]?.section ?? ''
        return (
          <Panel
            key={section}
            title={section}
            actions={
              <div className="flex items-center">
                <Button
                  isSmall
                  variant="quiet"
                  reason={reason}
                  aria-label={`Rename the section ${section}`}
                  onPress={() => onOpen({ how: 'rename-section', section })}
                >
                  Rename
                </Button>
                <SortButtons
                  name={`the section ${section}`}
                  id={`section ${section}`}
                  reason={reason}
                  up={index > 0 ? () => moveSection(index, index - 1) : null}
                  down={index < sections.length - 1 ? () => moveSection(index, index + 2) : null}
                />
              </div>
            }
          >
            <ol aria-label={`Fields of ${section}`}>
              {fields.map((field, at) => (
                <Row
                  key={field.internal_name}
                  field={field}
                  sorting={sorting}
                  reason={reason}
                  onOpen={onOpen}
                  row={sortRow(sorting, field.internal_name, section, at, fields.length)}
                  step={by => {
                    const to = stepOf(form, field.internal_name, by)
                    return to && (() => place(field.internal_name, to))
                  }}
                />
              ))}
            </ol>
          </Panel>
        )
      })}
    </div>
  )
}

function Row(props: {
  field: Field
  sorting: Sorting
  reason: string | undefined
  row: object
  step: (by: 1 | -1) => (() => void) | null
  onOpen: (opened: OpenFieldDialog) => void
}) {
  const { field, sorting, reason, row, step, onOpen } = props
  const {
    field_name: name,
    internal_name,
    is_custom,
    is_required,
    is_unique,
    is_active,
    is_read_only,
  } = field
  const isOwn = hasOwnOptions(field)
  return (
    <li
      {...row}
      className={classes(
        'grid grid-cols-[auto_1fr_auto] items-center gap-x-2 border-line px-3 py-1 not-first:border-t',
        sortLook,
      )}
    >
      <SortHandle sorting={sorting} id={internal_name} isDisabled={reason !== undefined} />
      <div className="grid min-w-0 items-center gap-x-3 sm:grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)_130px]">
        <span className={classes('truncate', !is_active && 'text-ink-soft')} title={internal_name}>
          <span className="font-medium" dir="auto">
            {name}
          </span>
          {is_required && (
            <span className="text-lost">
              <span aria-hidden> *</span>
              <span className="unseen"> (required)</span>
            </span>
          )}
        </span>
        <span className="truncate text-ink-soft">{typeInfo(field).name}</span>
        <span className="flex flex-wrap gap-1">
          {!is_active && <Badge variant="warn">inactive</Badge>}
          {is_unique && <Badge>unique</Badge>}
          {is_read_only && <Badge>calculated</Badge>}
          {is_custom && <Badge variant="accent">custom</Badge>}
        </span>
      </div>
      <div className="flex flex-wrap justify-end sm:w-[144px]">
        {isOwn && (
          <IconButton
            label={`Options of ${name}`}
            reason={reason}
            onPress={() => onOpen({ how: 'options', field })}
            className="size-7!"
          >
            <List size={14} aria-hidden />
          </IconButton>
        )}
        <SortButtons name={name} id={internal_name} reason={reason} up={step(-1)} down={step(1)} />
        <EditButton
          name={name}
          reason={reason}
          onPress={() => onOpen({ how: 'edit', field })}
          className="size-7!"
        />
        <DeleteButton
          name={name}
          reason={reason ?? (is_custom ? undefined : 'It is built in. It can be deactivated.')}
          onPress={() => onOpen({ how: 'delete', field })}
          className="size-7!"
        />
      </div>
    </li>
  )
}
