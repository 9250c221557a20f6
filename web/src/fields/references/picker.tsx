/** A text input that finds a record of a resource, and the list of matches (a combobox). */
import { ChevronsUpDown, Plus } from 'lucide-react'
import {
  type ComponentProps,
  type KeyboardEvent,
  type RefObject,
  type SyntheticEvent,
  useContext,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from 'react'
import {
  ComboBox,
  ComboBoxStateContext,
  Input,
  ListBox,
  ListBoxItem,
  Button as Opener,
} from 'react-aria-components'
import { errorMessage } from '../../api/api.ts'
import { afterPress } from '../../ui/after-press.ts'
import type { Wiring } from '../../ui/inputs.tsx'
import { Popover } from '../../ui/menu.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { findMatch, type Match, useMatches } from './find-records.ts'

type Item = Match & { readonly key: string }

type Props = {
  resource: string
  label: string
  /** the name of the chosen record */
  shown: string
  /** a text that was typed before, and for which nothing was chosen yet */
  typed?: string | undefined
  onPick: (found: Match) => void
  /** gets the typed text, if a text is accepted instead of a choice */
  onText?: ((text: string) => void) | undefined
  /** gets the typed text for which nothing is chosen yet; '' once something is, or the box is empty */
  onPending?: ((text: string) => void) | undefined
  /** offers to create a record of the typed name */
  onCreate?: ((text: string) => void) | undefined
  /** values that can't be chosen, because they already are */
  without?: readonly unknown[] | undefined
  wiring?: Partial<Wiring> | undefined
  placeholder?: string | undefined
  autoFocus?: boolean | undefined
}

export function Picker(props: Props) {
  const { label, wiring, placeholder, autoFocus } = props
  const { input, isPending, items, problem, load, select, settle } = usePicker(props)
  const menu = useRef<Menu>(null)
  const id = useId()
  const describedBy = [wiring?.['aria-describedby'], problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <ComboBox
      aria-label={label}
      items={items}
      inputValue={input.value}
      onInputChange={input.onChange}
      selectedKey={null}
      onSelectionChange={key => {
        const item = items.find(one => one.key === key)
        if (!item) return
        menu.current?.close()
        select(item)
      }}
      onFocus={load}
      onBlur={settle}
      allowsCustomValue
      menuTrigger="manual"
      allowsEmptyCollection
      isInvalid={wiring?.['aria-invalid'] === true || problem !== ''}
      className="min-w-0"
    >
      <div className="relative">
        <OpeningInput
          menu={menu}
          {...wiring}
          aria-describedby={describedBy || undefined}
          isPending={isPending}
          onSettle={settle}
          autoFocus={autoFocus}
          placeholder={placeholder ?? 'Search…'}
          dir="auto"
          className="field-box pr-8!"
        />
        <Opener
          aria-label={`Show what can be chosen for ${label}`}
          className="absolute top-1/2 right-1 grid size-6 -translate-y-1/2 place-items-center
            rounded-sm text-ink-faint
            data-hovered:bg-hover"
        >
          <ChevronsUpDown size={14} aria-hidden />
        </Opener>
      </div>
      {problem && (
        <p id={`${id}-problem`} role="alert" className="pt-1 text-sm text-lost">
          {problem}
        </p>
      )}
      <Matches />
    </ComboBox>
  )
}

/** The typed text, its matches, and the choice on leaving the box. */
function usePicker({ resource, shown, typed: before, onPick, onText, onPending, ...more }: Props) {
  const { onCreate, without } = more
  const [typed, setTyped] = useState<string | null>(before ?? null)
  const [problem, setProblem] = useState('')
  const [isAsked, setAsked] = useState(false)
  /** the current text of the box: an answer to another text is outdated */
  const latest = useRef(typed)
  const text = typed?.trim() ?? ''
  const found = useMatches(resource, text, isAsked)
  const items: Item[] = found
    .filter(({ id }) => !without?.includes(id))
    .map(one => ({ ...one, key: `${one.id}` }))
  if (onCreate)
    items.push({ id: 0, key: 'new', name: text ? `Create “${text}”` : `Create a new ${resource}` })
  const type = (next: string | null) => {
    latest.current = next
    setTyped(next)
    setProblem('')
    onPending?.(next?.trim() ?? '')
  }
  const pick = (found: Match) => {
    type(null)
    onPick(found)
  }
  /** Leaving the box and Enter choose the record of that name, or show why there is none. */
  const settle = async () => {
    if (typed === null) return
    if (text === '') return type(null)
    const match = await findMatch(resource, text, without).catch(errorMessage)
    if (latest.current !== typed) return
    const ifTyped = (act: () => void) => () => latest.current === typed && act()
    if (typeof match === 'string') {
      // A box that accepts a text accepts a number as an id, and shows its name.
      if (onText && /^\d+$/.test(text)) return type(null)
      afterPress(ifTyped(() => setProblem(`Nothing was chosen: ${match}`)))
    }
    // The chip in the place of a text that will do, too, moves the button that is being pressed.
    else if (onText && onPending) afterPress(ifTyped(() => pick(match)))
    else pick(match)
  }
  const value = typed ?? shown
  return {
    input: {
      value,
      onChange: (next: string) => {
        if (next === value) return
        type(next)
        onText?.(next.trim())
      },
    },
    isPending: onPending !== undefined && text !== '',
    items,
    problem,
    load: () => setAsked(true),
    select: (item: Item) => {
      if (item.key !== 'new') return pick(item)
      type(null)
      onCreate?.(text)
    },
    settle: () => void settle(),
  }
}

function Matches() {
  return (
    <Popover className="max-h-72 w-(--trigger-width) min-w-60">
      <ListBox<Item>
        className="outline-none"
        renderEmptyState={() => <p className="px-2 py-2 text-ink-faint">Nothing found.</p>}
      >
        {item => (
          <ListBoxItem
            id={item.key}
            textValue={item.name}
            className="flex min-h-8 items-center gap-2 rounded-sm px-2 outline-none
              data-focused:bg-accent-soft"
          >
            {item.key === 'new' && <Plus size={14} aria-hidden className="shrink-0 text-accent" />}
            <span dir="auto" className="min-w-0 grow truncate">
              {item.name}
            </span>
            {item.detail && <span className="min-w-0 truncate text-sm text-ink-faint">{item.detail}</span>}
          </ListBoxItem>
        )}
      </ListBox>
    </Popover>
  )
}

type Menu = { close(): void }

/**
 * A press, or typing, opens the list; the focus alone does not, so that the rest of the page stays in reach.
 * The box itself selects nothing: a choice closes the list here. Tab chooses only a match that arrow keys
 * have reached: the list may mark another one when its matches change. A scroll closes an open list, also the
 * one that brings the box into view when it is typed in, so the list opens again after it, in the next frame.
 */
function OpeningInput({
  menu,
  isPending,
  onSettle,
  ...props
}: ComponentProps<typeof Input> & {
  menu: RefObject<Menu | null>
  /** True if the text must be chosen, and is not yet */
  isPending: boolean
  onSettle: () => void
}) {
  const state = useContext(ComboBoxStateContext)
  const latest = useLatest(state)
  const frame = useRef(0)
  const isByArrows = useRef(false)
  const close = () => {
    cancelAnimationFrame(frame.current)
    latest.current?.close()
  }
  useImperativeHandle(menu, () => ({ close }))
  const open = ({ currentTarget: box }: SyntheticEvent) => {
    isByArrows.current = false
    state?.open(null, 'manual')
    cancelAnimationFrame(frame.current)
    frame.current = requestAnimationFrame(() => {
      if (document.activeElement === box) latest.current?.open(null, 'manual')
    })
  }
  /** Before the list takes the key. */
  const early = ({ key }: KeyboardEvent) => {
    if (key.startsWith('Arrow')) isByArrows.current = true
    else if (key === 'Tab' && !isByArrows.current) state?.selectionManager.setFocusedKey(null)
  }
  const keys = (event: KeyboardEvent) => {
    cancelAnimationFrame(frame.current)
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
    if (state?.isOpen ? state.selectionManager.focusedKey !== null : !isPending) return
    // With a closed list it would submit the form, which refuses a text that is not chosen.
    if (!state?.isOpen) event.preventDefault()
    onSettle()
  }
  return <Input {...props} onClick={open} onInput={open} onKeyDownCapture={early} onKeyDown={keys} />
}
