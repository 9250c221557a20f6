/** A value edited in place: a button becomes an input, and the focus returns to it. */
import { Link } from '@tanstack/react-router'
import { ExternalLink } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import type { AnyRecord, Field } from '../../api/api.ts'
import { displayValue, kindOf } from '../../fields/kinds.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Tip } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { isEmpty, isWritable } from '../editing/draft.ts'
import { readablePath } from '../tables.ts'
import { InlineEditor, type InlineFieldProps } from './inline-editor.tsx'
import { Truncated } from './truncated.tsx'
import { namesOf } from './use-record.ts'

/** A label and its value; `children` stand below it. */
export function InlineField({ children, ...props }: InlineFieldProps & { children?: ReactNode }) {
  const { field, record, reason } = props
  const [base, setBase] = useState<AnyRecord | null>(null)
  const isBack = useRef(false)
  const isEditable = isWritable(field) && !reason
  const done = () => {
    isBack.current = true
    setBase(null)
  }
  /** The button takes the focus back as soon as it is rendered again. */
  const button = (element: HTMLButtonElement | null) => {
    if (!element || !isBack.current) return
    isBack.current = false
    element.focus({ preventScroll: true })
  }
  return (
    <div
      className="grid grid-cols-[minmax(96px,36%)_1fr] gap-x-2 py-0.5 has-[dd_table]:grid-cols-1"
      data-field={field.internal_name}
    >
      <dt className="py-1.5 text-ink-soft">
        {field.field_name}
        {field.is_required && isEmpty(record[field.internal_name]) && (
          <span className="text-lost"> (required)</span>
        )}
      </dt>
      <dd className="min-w-0">
        {base ? (
          <InlineEditor
            {...props}
            base={base}
            onDone={done}
            onLeave={() => setBase(null)}
            onSaved={setBase}
          />
        ) : (
          <ShownValue {...props} isEditable={isEditable} button={button} onEdit={() => setBase(record)} />
        )}
        {children}
      </dd>
    </div>
  )
}

function ShownValue(
  props: InlineFieldProps & {
    isEditable: boolean
    button: (element: HTMLButtonElement | null) => void
    onEdit: () => void
  },
) {
  const { field, record, isEditable, button, onEdit } = props
  const format = useFormat()
  const kind = kindOf(field)
  const name = field.internal_name
  const value = record[name]
  const names = namesOf(record)[name]
  const text = isEmpty(value) ? 'empty' : displayValue(value, names, format, field)
  return (
    <div
      className={classes(
        'group relative flex min-h-8 items-start rounded-sm px-2 py-1.5',
        isEditable && 'hover:bg-hover',
      )}
    >
      {isEditable && (
        <button
          ref={button}
          type="button"
          data-edit
          aria-label={`Edit ${field.field_name}: ${text.slice(0, 200)}`}
          onClick={onEdit}
          className="absolute inset-0 cursor-text rounded-sm"
        />
      )}
      <div className="pointer-events-none relative min-w-0 grow break-words [&_a]:pointer-events-auto">
        {isEmpty(value) ? (
          <span className="text-ink-faint">—</span>
        ) : (
          <Truncated text={text}>
            <kind.Cell value={value} field={field} names={names} />
          </Truncated>
        )}
      </div>
      <OpenRelated field={field} value={value} />
    </div>
  )
}

/** A link to the referenced record. */
function OpenRelated({ field, value }: { field: Field; value: unknown }) {
  const source = field.related_field?.source
  const path = source && typeof value === 'number' ? readablePath(source, value) : null
  if (path === null) return null
  return (
    <Tip text={`Open ${field.field_name.toLowerCase()}`}>
      <Link
        to={path}
        aria-label={`Open ${field.field_name.toLowerCase()}`}
        className="relative -my-0.5 grid size-6 shrink-0 place-items-center rounded-sm
          text-ink-faint hover:text-accent"
      >
        <ExternalLink size={13} aria-hidden />
      </Link>
    </Tip>
  )
}
