/** The input of a value that is edited in place: saved by Enter, and when it is left. */
import { Check, Loader, X } from 'lucide-react'
import { type FocusEvent, type KeyboardEvent, useRef, useState } from 'react'
import { type AnyRecord, type Field, problemsByField } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import { problemsWithin } from '../../fields/references/new-related.ts'
import { afterPress } from '../../ui/after-press.ts'
import { IconButton } from '../../ui/button.tsx'
import { toastError } from '../../ui/toast.tsx'
import { useIsGone, useLatest } from '../../ui/use-latest.ts'
import { firstPlace, isSame, type Problems, placeOf, problemsOf } from '../editing/draft.ts'
import { describeUnsaved, type Save } from '../editing/use-record-save.tsx'
import { useBackGuard, useUnsavedGuard } from '../editing/use-unsaved-guard.ts'
import { namesOf } from './use-record.ts'

export type InlineFieldProps = {
  field: Field
  record: AnyRecord
  save: Save
  /** reason why nothing here can be changed */
  reason: string | undefined
}

type Props = InlineFieldProps & {
  /** the record with the value that is changed: of the opening, or of the last save */
  base: AnyRecord
  onDone: () => void
  onLeave: () => void
  /** gets the saved record, where more was typed meanwhile */
  onSaved: (saved: AnyRecord) => void
}

export function InlineEditor(props: Props) {
  const { field, base, save, onDone, onLeave, onSaved } = props
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
  useBackGuard(!hasProblem && !isSaving && !isSame(value, base[name]))
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
      saved => {
        if (!saved) return
        const typed = latest.current.value
        if (isSame(typed, value) || isSame(typed, saved[name])) end()
        else onSaved(saved)
      },
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
