/**
 * A text in which `@` offers people to mention (D156). Those who may not see the record are shown, and can't
 * be chosen.
 */
import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react'
import { callApi, type Schemas } from '../api/api.ts'
import { mayRead } from '../api/queries.ts'
import { classes } from '../ui/classes.ts'
import { Avatar } from '../ui/elements.tsx'
import { TextArea } from '../ui/inputs.tsx'
import { announce } from '../ui/toast.tsx'
import { useDebounced } from '../ui/use-debounced.ts'
import { type About, idsOf, mainOf } from './about.ts'
import { mentionBefore, rememberPerson } from './mentions.ts'

type Person = Schemas['person']
type Props = ComponentProps<typeof TextArea> & { subjects: About }

export function MentionArea({ subjects: about, value, onChange, onKeyDown, ...props }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const listId = useId()
  const [caret, setCaret] = useState<number | null>(null)
  const [active, setActive] = useState(0)
  const moveTo = useRef<number | null>(null)
  const begun = caret === null ? null : mentionBefore(value, caret)
  const people = usePeople(about, begun?.typed ?? null)
  const isOpen = begun !== null && people.length > 0
  const chosen = isOpen ? people[Math.min(active, people.length - 1)] : undefined
  useLayoutEffect(() => {
    const box = place.current?.querySelector('textarea')
    if (moveTo.current === null || !box) return
    box.setSelectionRange(moveTo.current, moveTo.current)
    moveTo.current = null
  })
  const choose = ({ id, name, sees }: Person) => {
    if (!begun || caret === null || !sees) return
    const before = `${value.slice(0, begun.at)}@${rememberPerson(id, name)} `
    onChange(before + value.slice(caret).replace(/^ /, ''))
    moveTo.current = before.length
    setCaret(null)
  }
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.nativeEvent.isComposing
    const step = { ArrowDown: 1, ArrowUp: people.length - 1 }[event.key]
    if (!isOpen || !isPlain) return onKeyDown?.(event)
    if (step !== undefined) setActive((Math.min(active, people.length - 1) + step) % people.length)
    else if (event.key === 'Escape') setCaret(null)
    else if ((event.key === 'Enter' || event.key === 'Tab') && chosen?.sees) choose(chosen)
    else return event.key === 'Enter' ? event.preventDefault() : onKeyDown?.(event)
    event.preventDefault()
    event.stopPropagation()
  }
  const look = ({ currentTarget }: { currentTarget: HTMLTextAreaElement }) => {
    const { selectionStart, selectionEnd } = currentTarget
    setCaret(selectionStart === selectionEnd ? selectionStart : null)
  }
  return (
    <div ref={place} className="relative">
      <TextArea
        {...props}
        value={value}
        onChange={text => {
          onChange(text)
          setActive(0)
          setCaret(place.current?.querySelector('textarea')?.selectionStart ?? null)
        }}
        onKeyDown={press}
        onClick={look}
        onBlur={() => setCaret(null)}
        aria-autocomplete="list"
        {...(isOpen ? { 'aria-controls': listId, 'aria-activedescendant': `${listId}-${chosen!.id}` } : {})}
      />
      {isOpen && <People {...{ people, chosen, listId, about }} onChoose={choose} />}
    </div>
  )
}

/** The people for what is typed after the @, from the service; null: none is begun. */
function usePeople(about: About, typed: string | null): readonly Person[] {
  const search = useDebounced(typed ?? '', 120)
  const query = { ...idsOf(about), ...(search ? { search } : {}) }
  const { data = [], isPlaceholderData } = useQuery({
    queryKey: ['people', query],
    queryFn: async ({ signal }) => {
      const found = await callApi<Person[]>('GET', '/inbox/people', { query, signal })
      announce(found.length === 1 ? 'One person' : `${found.length} people`)
      return found
    },
    enabled: typed !== null && mayRead('user'),
    placeholderData: before => before,
  })
  if (typed === null) return []
  // The answer is to an earlier text: Enter must choose nobody whom the present one does not mean.
  if (search === typed && !isPlaceholderData) return data
  return data.filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase()))
}

function People(props: {
  people: readonly Person[]
  chosen: Person | undefined
  listId: string
  about: About
  onChoose: (person: Person) => void
}) {
  const { people, chosen, listId, about, onChoose } = props
  const what = mainOf(about) ?? 'activity'
  return (
    <div
      id={listId}
      role="listbox"
      aria-label="People to mention"
      className={classes(
        'floating absolute inset-x-0 top-full z-50 mt-1 max-h-56 overflow-y-auto rounded-md border',
        'border-line bg-raised p-1 shadow-float',
      )}
    >
      {people.map(person => (
        // The keys are those of the text, which keeps the focus.
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text has the keys
        <div
          key={person.id}
          id={`${listId}-${person.id}`}
          role="option"
          tabIndex={-1}
          aria-selected={person === chosen}
          aria-disabled={!person.sees}
          ref={person === chosen ? element => element?.scrollIntoView({ block: 'nearest' }) : undefined}
          onPointerDown={event => event.preventDefault()}
          onMouseDown={event => event.preventDefault()}
          onClick={() => onChoose(person)}
          className={classes(
            'flex min-h-9 items-center gap-2 rounded-sm px-2',
            person === chosen && 'bg-hover',
            !person.sees && 'text-ink-soft',
          )}
        >
          <Avatar name={person.name} />
          <span className="min-w-0 truncate" dir="auto">
            {person.name}
          </span>
          {!person.sees && <span className="ml-auto text-sm">can’t see this {what}</span>}
        </div>
      ))}
    </div>
  )
}
