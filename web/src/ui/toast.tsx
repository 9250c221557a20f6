/** Short messages at the foot of the page. They are announced; undoable ones have a button. */
import { X } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { classes } from './classes.ts'
import { createStore } from './store.ts'

type Toast = {
  readonly id: number
  readonly text: string
  readonly look: 'done' | 'failed'
  readonly action?: { readonly label: string; readonly act: () => void | Promise<void> } | undefined
}

const shownMs = { done: 6000, failed: 12_000 }
const toasts = createStore<readonly Toast[]>([])
let lastId = 0
type Change = {
  readonly id: number
  readonly text: string
  readonly undo: (() => void | Promise<void>) | undefined
}
/** The undo stack of this tab; the newest change last. */
let changes: readonly Change[] = []
const changesMax = 200
/** Undos run one after another: each depends on the result of the one before. */
let undoing: Promise<void> = Promise.resolve()

/**
 * Shows a message. A duplicate is not shown twice; the undo of each stays. `isNews`: True if it reports no
 * change.
 */
export function toast(
  text: string,
  {
    look = 'done',
    action,
    isNews = false,
  }: Partial<Pick<Toast, 'look' | 'action'>> & { isNews?: boolean } = {},
): void {
  const id = ++lastId
  const undo = action?.label === 'Undo' ? action.act : undefined
  if (look === 'done' && !isNews) changes = [...changes, { id, text, undo }].slice(-changesMax)
  toasts.set([
    ...toasts
      .get()
      .filter(other => other.text !== text || other.action)
      .slice(-2),
    { id, text, look, action },
  ])
}

/** A message about a failure. */
export const toastError = (text: string, action?: Toast['action']): void =>
  toast(text, { look: 'failed', action })

/** Copies a text to the clipboard; browsers refuse it on pages without encryption. */
export async function copyText(text: string, message: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(message, { isNews: true })
  } catch {
    toastError('The browser does not let this page copy. Select the text, and copy it by the keyboard.')
  }
}

/** Undoes the last change that was not undone yet, or shows why not. */
export function undoLast(): void {
  undoing = undoing.then(() => {
    const last = changes.at(-1)
    if (!last) return toast('There is nothing to undo.', { isNews: true })
    changes = changes.slice(0, -1)
    if (!last.undo) return toast(`This can’t be undone by a key: ${last.text}`, { isNews: true })
    dismiss(last.id)
    return last.undo()
  })
  // One that fails does not end those after it.
  undoing = undoing.catch(() => {})
}

/** Ends the messages and the undo stack, with the session of their user. */
export function endMessages(): void {
  changes = []
  toasts.set([])
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter(one => one.id !== id))
}

/** Announces a text, without showing it. */
export function announce(text: string): void {
  const region = document.getElementById('announcer')
  if (region) region.textContent = region.textContent === text ? `${text}\u00a0` : text
}

export function Toasts() {
  const shown = toasts.use()
  return (
    // React Aria keeps the top layer usable and audible while a dialog is open.
    <div data-react-aria-top-layer>
      <div id="announcer" role="status" className="unseen" />
      <div
        role="log"
        aria-label="Messages"
        className="pointer-events-none fixed inset-x-2 bottom-[calc(var(--foot,0px)+1rem)] z-50 flex flex-col items-center gap-2"
      >
        {shown.map(one => (
          <Message key={one.id} {...one} />
        ))}
      </div>
    </div>
  )
}

/** Disappears after a while, but not while the pointer or the focus is on it. */
function Message({ id, text, look, action }: Toast) {
  const [isHeld, setHeld] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  /** the focused element before the focus came here */
  const from = useRef<EventTarget | null>(null)
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => dismiss(id), shownMs[look])
    return () => clearTimeout(timer)
  }, [isHeld, id, look])
  useLayoutEffect(() => {
    const element = place.current
    return () => {
      const before = from.current
      if (element?.contains(document.activeElement) && before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only holds it; what acts are its buttons
    <div
      ref={place}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(place.current?.contains(document.activeElement) === true)}
      onFocus={({ relatedTarget }) => {
        if (!place.current?.contains(relatedTarget)) from.current = relatedTarget
        setHeld(true)
      }}
      onBlur={() => setHeld(place.current?.matches(':hover') === true)}
      className={classes(
        'floating pointer-events-auto flex max-w-xl gap-2 rounded-md border border-line',
        'bg-raised py-1.5 pr-1.5 pl-3 shadow-float',
        // Errors can be read in full, of any length.
        look === 'done' ? 'items-center' : 'max-h-[40dvh] items-start overflow-y-auto',
      )}
    >
      <span
        className={classes(
          'size-2 shrink-0 rounded-full',
          look === 'done' ? 'bg-won' : 'sticky top-0 mt-2.5 bg-lost',
        )}
      />
      <span className={classes('min-w-0 py-1', look === 'done' && 'clamp-2')}>{text}</span>
      {action && (
        <Button
          variant="quiet"
          className="font-medium text-accent"
          onPress={() => {
            dismiss(id)
            changes = changes.filter(change => change.id !== id)
            void action.act()
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton label="Dismiss" onPress={() => dismiss(id)}>
        <X size={14} aria-hidden />
      </IconButton>
    </div>
  )
}
