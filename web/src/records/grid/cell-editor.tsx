/** The editor over a cell. Enter saves, Escape cancels, Tab saves and edits the next cell. */
import { type RefObject, useRef, useState } from 'react'
import { Dialog } from 'react-aria-components'
import type { AnyRecord, Field } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import { Popover } from '../../ui/menu.tsx'

export type Editing = {
  readonly row: number
  readonly column: number
  readonly record: AnyRecord
  readonly field: Field
  /** the refused text, and the reason */
  readonly draft?: unknown
  readonly error?: string | undefined
}

/** Target of the focus after the editor. */
export type Then = 'stay' | 'next' | 'previous'

type Props = {
  editing: Editing
  anchor: RefObject<HTMLElement | null>
  height: number
  width: number
  onSave: (value: unknown, then: Then) => void
  onCancel: () => void
}

const focusable = 'input, select, textarea, button, [tabindex="0"]'

export function CellEditor({ editing, anchor, height, width, onSave, onCancel }: Props) {
  const { record, field } = editing
  const name = field.internal_name
  const { Input, check } = kindOf(field)
  const [draft, setDraft] = useState<unknown>('draft' in editing ? editing.draft : (record[name] ?? null))
  const [error, setError] = useState(editing.error)
  const box = useRef<HTMLDivElement>(null)
  const finish = (then: Then) => {
    const wrong = draft === null || draft === undefined ? undefined : check?.(draft, field)
    const missing = (draft === null || draft === '') && field.is_required ? 'This is required.' : undefined
    if (wrong || missing) setError(wrong ?? missing)
    else onSave(draft, then)
  }
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.defaultPrevented || event.nativeEvent.isComposing) return
    const target = event.target as HTMLElement
    if (event.key === 'Escape') {
      event.stopPropagation()
      onCancel()
    } else if (event.key === 'Enter') {
      const isOwn = target.closest('button, [aria-expanded="true"]')
      if (isOwn || (target.tagName === 'TEXTAREA' && event.shiftKey)) return
      event.preventDefault()
      finish('stay')
    } else if (event.key === 'Tab') {
      const inside = [...box.current!.querySelectorAll<HTMLElement>(focusable)].filter(
        one => one.tabIndex >= 0 && one.offsetParent !== null,
      )
      if (inside.length > 1 && target !== (event.shiftKey ? inside[0] : inside.at(-1))) return
      event.preventDefault()
      event.stopPropagation()
      finish(event.shiftKey ? 'previous' : 'next')
    }
  }
  return (
    <Popover
      isOpen
      triggerRef={anchor}
      placement="bottom start"
      offset={-height}
      crossOffset={-2}
      isKeyboardDismissDisabled
      onOpenChange={isOpen => !isOpen && finish('stay')}
      className="max-w-[min(480px,100vw-16px)]"
    >
      <Dialog aria-label={`${field.field_name}: edit`} className="outline-none">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: it hears the keys of the input inside */}
        <div ref={box} onKeyDown={onKeyDown} style={{ minWidth: Math.max(width, 220) }}>
          <Input
            value={draft}
            onChange={value => {
              setError(undefined)
              setDraft(value)
            }}
            field={field}
            label={field.field_name}
            isLabelHidden
            error={error}
            names={record._expanded?.[name]}
            record={record}
            autoFocus
          />
        </div>
      </Dialog>
    </Popover>
  )
}
