/** A value edited in place: a button becomes an input, and the focus returns to it. */
import { Link } from '@tanstack/react-router'
import { Check, ExternalLink, Loader, X } from 'lucide-react'
import { type FocusEvent, type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { type AnyRecord, type Field, problemsByField } from '../../api/api.ts'
import { displayValue, kindOf } from '../../fields/kinds.ts'
import { problemsWithin } from '../../fields/references/new-related.ts'
import { useFormat } from '../../format/use-format.tsx'
import { recordPath } from '../../routes.tsx'
import { afterPress } from '../../ui/after-press.ts'
import { IconButton, Tip } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { toastError } from '../../ui/toast.tsx'
import { useIsGone } from '../../ui/use-is-gone.ts'
import { useLatest } from '../../ui/use-latest.ts'
import {
  firstPlace,
  isEmpty,
  isSame,
  isWritable,
  type Problems,
  placeOf,
  problemsOf,
} from '../editing/draft.ts'
import { describeUnsaved, type Save } from '../editing/use-record-save.tsx'
import { useUnsavedGuard } from '../editing/use-unsaved-guard.ts'
import { Truncated } from './truncated.tsx'
import { namesOf } from './use-record.ts'

type Props = {
  field: Field
  record: AnyRecord
  save: Save
  /** reason why nothing here can be changed */
  reason: string | undefined
}

/** A label and its value; `children` stand below it. */
export function InlineField({ children, ...props }: Props & { children?: ReactNode }) {
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
          <Editor {...props} base={base} onDone={done} onLeave={() => setBase(null)} />
        ) : (
          <ShownValue {...props} isEditable={isEditable} button={button} onEdit={() => setBase(record)} />
        )}
        {children}
      </dd>
    </div>
  )
}

function ShownValue(
  props: Props & {
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
  const path =
    field.related_field && typeof value === 'number' ? recordPath(field.related_field.source, value) : '/'
  if (path === '/') return null
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

function Editor(props: Props & { base: AnyRecord; onDone: () => void; onLeave: () => void }) {
  const { field, base, save, onDone, onLeave } = props
  const name = field.internal_name
  const { Input } = kindOf(field)
  const [value, setValue] = useState<unknown>(base[name] ?? null)
  const [problems, setProblems] = useState<Problems>({})
  /** the problems below the input, whose text moves what lies there */
  const [shown, setShown] = useState<Problems>({})
  const hasProblem = Object.keys(problems).length > 0
  const [isSaving, setSaving] = useState(false)
  const busy = useRef(false)
  const isGone = useIsGone()
  // Leaving the page would lose a value that can't be saved.
  useUnsavedGuard(hasProblem)
  const refuse = (found: Problems) => {
    setProblems(found)
    afterPress(() => setShown(found))
  }
  const finish = async (end: () => void): Promise<void> => {
    if (busy.current) return
    if (isSame(value, base[name])) return end()
    const required = new Set(field.is_required ? [name] : [])
    const wrong = problemsOf({ [name]: value }, [field], required)
    if (Object.keys(wrong).length > 0) return refuse(wrong)
    busy.current = true
    setSaving(true)
    const refused = await save(base, { [name]: value }).then(
      saved => void (saved && end()),
      error => {
        if (isGone.current) toastError(describeUnsaved(field.field_name, base, error))
        else return problemsByField(error, path => placeOf(path, { [name]: value }, [field]))
      },
    )
    busy.current = false
    setSaving(false)
    // The input may have resolved its text meanwhile.
    if (refused && !isSame(latest.current.value, value)) return latest.current.finish(end)
    if (!refused) return
    const isHere = firstPlace(refused, [field]) !== undefined
    refuse(isHere ? refused : { [name]: Object.values(refused).join(' ') })
  }
  const latest = useLatest({ value, finish })
  const keys = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement
    if (event.key === 'Escape') {
      event.stopPropagation()
      onDone()
    }
    if (event.key !== 'Enter' || event.defaultPrevented) return
    const isOpen = target.getAttribute('aria-expanded') === 'true'
    const isMod = event.ctrlKey || event.metaKey
    if (isOpen || target.closest('button') || (target instanceof HTMLTextAreaElement && !isMod)) return
    event.preventDefault()
    void finish(onDone)
  }
  const leave = ({ currentTarget: place }: FocusEvent<HTMLElement>) => {
    // After the focus has moved: moving into a list or dialog of the input is no leaving. A text that the
    // input resolved meanwhile counts.
    setTimeout(() => {
      const now = document.activeElement
      if (!document.hasFocus() || !place.isConnected || place.contains(now)) return
      if (now?.closest('[role="listbox"], [role="alertdialog"]')) return
      void latest.current.finish(() => afterPress(onLeave))
    })
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the input inside it
    <div onKeyDown={keys} onBlur={leave} className="flex items-start gap-1">
      <div className="min-w-0 grow">
        <Input
          field={field}
          label={field.field_name}
          isLabelHidden
          value={value}
          onChange={next => {
            setValue(next)
            setProblems({})
            setShown({})
          }}
          names={namesOf(base)[name]}
          record={base}
          error={shown[name]}
          errors={problemsWithin(shown, name)}
          autoFocus
        />
      </div>
      <span className="flex h-8.5 items-center">
        {isSaving ? (
          <Loader size={14} role="img" aria-label="Saving" className="mx-2 animate-spin text-ink-faint" />
        ) : (
          <>
            <IconButton label="Save" className="size-6!" onPress={() => void finish(onDone)}>
              <Check size={14} aria-hidden />
            </IconButton>
            <IconButton label="Cancel" className="size-6!" onPress={onDone}>
              <X size={14} aria-hidden />
            </IconButton>
          </>
        )}
      </span>
    </div>
  )
}
