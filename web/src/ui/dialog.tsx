/** A modal dialog, in the middle or at the side. Escape and a click outside close it. */
import { X } from 'lucide-react'
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
} from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { IconButton } from './button.tsx'
import { classes, underlay } from './classes.ts'
import { LeaveGuard } from './leave-guard.ts'

type Props = {
  title: string
  /** below the title, in a line of its own */
  detail?: ReactNode
  isOpen: boolean
  onClose: () => void
  /** all ways out ask before they lose what is typed: Escape, the cross, a press outside, Back, a reload */
  isUnsaved?: boolean
  /** their question, if it is not about what is typed */
  question?: string
  width?: 'narrow' | 'wide'
  place?: 'middle' | 'side'
  /** `alertdialog` if it must be answered */
  role?: 'dialog' | 'alertdialog'
  children: ReactNode
}

const Inside = createContext<(isUnsaved: boolean) => void>(() => {})

/** Once a form's draft has changed, the dialog around it asks before it closes, as by `isUnsaved`. */
export function useDraftInside(draft: unknown): void {
  const say = useContext(Inside)
  const text = JSON.stringify(draft)
  const [first] = useState(text)
  const isUnsaved = text !== first
  // Before the next key: Escape may follow at once.
  useLayoutEffect(() => {
    say(isUnsaved)
    return () => say(false)
  }, [say, isUnsaved])
}

const places = {
  middle: 'items-start justify-center p-4 pt-[10vh] max-sm:p-2 max-sm:pt-[4vh]',
  side: 'items-stretch justify-end',
}

/** The focus before the first of several dialogs that opened each other. */
let opener: Element | null = null

/**
 * React Aria restores the focus. Its element may be gone, such as a deleted row, or a dialog that led to this
 * one: then the focus goes to the opener of the first dialog, or to the heading of the page.
 */
function useFocusBack(isOpen: boolean): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: as it opens
  const before = useMemo(focused, [isOpen])
  useEffect(() => {
    if (!isOpen) return
    if (before && !before.closest('[role$="dialog"]')) opener = before
    return () => {
      setTimeout(() => {
        const { activeElement, body } = document
        if ((activeElement && activeElement !== body) || document.querySelector('[role$="dialog"]')) return
        const heading = document.querySelector<HTMLElement>('h1')
        if (heading) heading.tabIndex = -1
        const to = opener?.isConnected ? (opener as HTMLElement) : heading
        to?.focus({ preventScroll: true })
      }, 100)
    }
  }, [isOpen, before])
}

/** The focused element; in a menu, the button that opened it. */
function focused(): Element | null {
  const { activeElement } = document
  const menu = activeElement?.closest('[role="menu"]')
  return menu ? document.querySelector(`[aria-controls="${menu.id}"]`) : activeElement
}

export function Dialog(props: Props) {
  const {
    title,
    detail,
    isOpen,
    onClose,
    isUnsaved = false,
    question = 'What you have typed is not saved. Close without it?',
    width = 'narrow',
    place = 'middle',
    role,
    children,
  } = props
  useFocusBack(isOpen)
  const Guard = useContext(LeaveGuard)
  const [isUnsavedInside, say] = useState(false)
  const asks = isUnsaved || isUnsavedInside
  const close = () => {
    if (!asks || confirm(question)) onClose()
  }
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={open => !open && close()}
      isDismissable
      className={classes(underlay, places[place])}
    >
      <Modal
        className={classes(
          'floating max-h-full min-w-0 overflow-auto bg-raised shadow-float outline-none',
          place === 'side' ? 'h-full w-full max-w-[760px] border-l border-line' : 'w-full rounded-lg',
          place !== 'side' && (width === 'wide' ? 'max-w-[720px]' : 'max-w-[440px]'),
        )}
      >
        <Guard isUnsaved={asks} question={question} />
        <AriaDialog role={role ?? 'dialog'} className="outline-none">
          <header className="flex items-start gap-3 px-5 pt-4">
            <div className="min-w-0 grow">
              <Heading slot="title" className="text-lg font-semibold">
                {title}
              </Heading>
              {detail && <p className="text-ink-soft">{detail}</p>}
            </div>
            <IconButton label="Close" onPress={close} className="-mr-2">
              <X size={16} aria-hidden />
            </IconButton>
          </header>
          <div className="px-5 pt-3 pb-5">
            <Inside value={say}>{children}</Inside>
          </div>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>
}
