/** A text in which one types to find a record of a resource, and the list of what was found. */
import { ChevronsUpDown, Plus } from 'lucide-react'
import {
  type ComponentProps,
  type RefObject,
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
import { sayError } from '../../api/api.ts'
import type { Wiring } from '../../ui/inputs.tsx'
import { Popover } from '../../ui/menu.tsx'
import { type Found, matching, useFound } from './found.ts'

type Item = Found & { readonly key: string }

export function Picker(props: {
  resource: string
  label: string
  /** the name of what is chosen */
  shown: string
  onPick: (found: Found) => void
  /** what is typed, for whoever takes a text in place of a choice; the box alone keeps it otherwise */
  onText?: ((text: string) => void) | undefined
  /** offers to create what was typed */
  onCreate?: ((text: string) => void) | undefined
  /** what can't be chosen, because it is already */
  without?: readonly unknown[] | undefined
  wiring?: Partial<Wiring> | undefined
  placeholder?: string | undefined
  autoFocus?: boolean | undefined
}) {
  const { resource, label, shown, onPick, onText, onCreate, without, wiring, placeholder, autoFocus } = props
  const [typed, setTyped] = useState<string | null>(null)
  const [missed, setMissed] = useState('')
  const [isAsked, setAsked] = useState(false)
  const menu = useRef<Menu>(null)
  /** what the box has now: an answer to another text comes too late */
  const latest = useRef<string | null>(null)
  const id = useId()
  const text = typed?.trim() ?? ''
  const found = useFound(resource, text, isAsked)
  const items: Item[] = found
    .filter(({ id }) => !without?.includes(id))
    .map(one => ({ ...one, key: `${one.id}` }))
  if (onCreate)
    items.push({ id: 0, key: 'new', name: text ? `Create “${text}”` : `Create a new ${resource}` })
  const type = (next: string | null) => {
    latest.current = next
    setTyped(next)
    setMissed('')
  }
  const pick = (found: Found) => {
    type(null)
    onPick(found)
  }
  /** Whoever leaves the text or presses Enter means what it says: that is taken, or it is said why not. */
  const settle = async () => {
    if (text === '') return type(null)
    const match = await matching(resource, text, without).catch(sayError)
    if (latest.current !== typed) return
    if (typeof match !== 'string') return pick(match)
    // What takes a text takes a number as an id, and shows whose it is.
    if (onText && /^\d+$/.test(text)) return type(null)
    setMissed(`Nothing was chosen: ${match}`)
  }
  return (
    <ComboBox
      aria-label={label}
      items={items}
      inputValue={typed ?? shown}
      onInputChange={next => {
        if (next === (typed ?? shown)) return
        type(next)
        onText?.(next.trim())
      }}
      selectedKey={null}
      onSelectionChange={key => {
        const item = items.find(one => one.key === key)
        if (!item) return
        menu.current?.close()
        if (item.key !== 'new') return pick(item)
        type(null)
        onCreate?.(text)
      }}
      onFocus={() => setAsked(true)}
      onBlur={() => {
        if (typed !== null) void settle()
      }}
      allowsCustomValue
      menuTrigger="manual"
      allowsEmptyCollection
      isInvalid={wiring?.['aria-invalid'] === true || missed !== ''}
      className="min-w-0"
    >
      <div className="relative">
        <OpeningInput
          menu={menu}
          {...wiring}
          aria-describedby={
            [wiring?.['aria-describedby'], missed && `${id}-missed`].filter(Boolean).join(' ') || undefined
          }
          onSettle={() => {
            if (typed !== null) void settle()
          }}
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
      {missed && (
        <p id={`${id}-missed`} role="alert" className="pt-1 text-sm text-lost">
          {missed}
        </p>
      )}
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
    </ComboBox>
  )
}

type Menu = { close(): void }

/**
 * A press, or what is typed, opens the list; the focus alone does not, so that what else is on the page stays
 * in reach. Nothing is kept selected in the box: what was picked closes the list here.
 */
function OpeningInput({
  menu,
  onSettle,
  ...props
}: ComponentProps<typeof Input> & { menu: RefObject<Menu | null>; onSettle: () => void }) {
  const state = useContext(ComboBoxStateContext)
  useImperativeHandle(menu, () => ({ close: () => state?.close() }), [state])
  const open = () => state?.open(null, 'manual')
  const keys = ({ key }: { key: string }) => {
    if (key === 'Enter' && state?.isOpen && state.selectionManager.focusedKey === null) onSettle()
  }
  return <Input {...props} onClick={open} onInput={open} onKeyDown={keys} />
}
