/** A text in which one types to find a record of a resource, and the list of what was found. */
import { ChevronsUpDown, Plus } from 'lucide-react'
import { type ComponentProps, type RefObject, useContext, useImperativeHandle, useRef, useState } from 'react'
import {
  ComboBox,
  ComboBoxStateContext,
  Input,
  ListBox,
  ListBoxItem,
  Button as Opener,
} from 'react-aria-components'
import type { Wiring } from '../ui/inputs.tsx'
import { Popover } from '../ui/menu.tsx'
import { type Found, useFound } from './found.ts'

type Item = Found & { readonly key: string }

export function Picker(props: {
  resource: string
  label: string
  /** the name of what is chosen */
  shown: string
  onPick: (found: Found) => void
  /** the text was emptied */
  onClear?: (() => void) | undefined
  /** offers to create what was typed */
  onCreate?: ((text: string) => void) | undefined
  /** what can't be chosen, because it is already */
  without?: readonly unknown[] | undefined
  wiring?: Partial<Wiring> | undefined
  placeholder?: string | undefined
  autoFocus?: boolean | undefined
}) {
  const { resource, label, shown, onPick, onClear, onCreate, without, wiring, placeholder, autoFocus } = props
  const [typed, setTyped] = useState<string | null>(null)
  const [isAsked, setAsked] = useState(false)
  const menu = useRef<Menu>(null)
  const text = typed?.trim() ?? ''
  const found = useFound(resource, typed === null || typed === shown ? '' : text, isAsked)
  const items: Item[] = found
    .filter(({ id }) => !without?.includes(id))
    .map(one => ({ ...one, key: `${one.id}` }))
  if (onCreate)
    items.push({ id: 0, key: 'new', name: text ? `Create “${text}”` : `Create a new ${resource}` })
  return (
    <ComboBox
      aria-label={label}
      items={items}
      inputValue={typed ?? shown}
      onInputChange={setTyped}
      selectedKey={null}
      onSelectionChange={key => {
        const item = items.find(one => one.key === key)
        if (!item) return
        menu.current?.close()
        setTyped(null)
        if (item.key === 'new') onCreate?.(text)
        else onPick(item)
      }}
      onFocus={() => setAsked(true)}
      onBlur={() => {
        if (typed !== null && text === '' && shown !== '') onClear?.()
        setTyped(null)
      }}
      allowsCustomValue
      menuTrigger="manual"
      allowsEmptyCollection
      isInvalid={wiring?.['aria-invalid'] === true}
      className="min-w-0"
    >
      <div className="relative">
        <OpeningInput
          menu={menu}
          {...wiring}
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
function OpeningInput({ menu, ...props }: ComponentProps<typeof Input> & { menu: RefObject<Menu | null> }) {
  const state = useContext(ComboBoxStateContext)
  useImperativeHandle(menu, () => ({ close: () => state?.close() }), [state])
  const open = () => state?.open(null, 'manual')
  return <Input {...props} onClick={open} onInput={open} />
}
