/** The filter of a list: a chip for each condition, the quick filters, and its text. */
import { Code, Filter as FilterIcon } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { Dialog, DialogTrigger } from 'react-aria-components'
import { type Filter, type FilterNode, parseFilter, printFilter } from '../../../client/src/filter.ts'
import { useCommands } from '../shell/commands.ts'
import { useMe } from '../shell/me.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Popover } from '../ui/menu.tsx'
import { ConditionEditor } from './condition-editor.tsx'
import { replaced } from './filter.ts'
import { Chip } from './filter-chip.tsx'
import { FilterText, filterProblemOf } from './filter-text.tsx'
import { quickFilters } from './quick-filters.ts'
import { pathsOf, useFieldPaths, useFields } from './use-fields.ts'

type Props = {
  source: string
  filter: string
  onChange: (filter: string) => void
  /** the error of the list with this filter: its page shows it, here the text is marked at its position */
  error?: unknown
}

/** `f` adds a condition. */
export function FilterBar({ source, filter, onChange, error }: Props) {
  const me = useMe()
  const [isText, setText] = useState(false)
  const [isAdding, setAdding] = useState(false)
  const bar = useRef<HTMLFieldSetElement>(null)
  const { read, unreadable } = useMemo(() => reading(filter), [filter])
  const { find } = useFieldPaths(source, pathsOf(read ?? []))
  const commands = useMemo(
    () => [{ id: 'filter', title: 'Filter', group: 'List', keys: 'f', act: () => setAdding(true) }],
    [],
  )
  useCommands(commands)
  const fields = useFields(source)
  const quick = quickFilters(source)
    .filter(({ needs }) => fields.some(({ internal_name }) => internal_name === needs))
    .map(({ label, filter: make }) => ({ label, text: make(me.user.id) }))
  const isQuick = (term: FilterNode) => quick.some(({ text }) => text === printFilter([term]))
  const change = (next: Filter) => {
    onChange(printFilter(next))
    // The focused element may be gone.
    requestAnimationFrame(() => {
      if (document.activeElement === document.body)
        bar.current?.querySelector<HTMLElement>('[data-add]')?.focus()
    })
  }
  const wrong = error || read === null ? filterProblemOf(error ?? unreadable, filter) : null
  if (isText || read === null)
    return (
      <FilterText
        // Another view has another text.
        key={filter}
        {...{ source, filter, wrong }}
        onChange={text => {
          setText(false)
          onChange(text)
        }}
        onClose={() => {
          setText(false)
          if (read === null) onChange('')
        }}
      />
    )
  return (
    <fieldset ref={bar} className="flex min-w-0 flex-wrap items-center gap-1.5">
      <legend className="unseen">Filter</legend>
      {quick.map(({ label, text }) => {
        const at = read.findIndex(term => printFilter([term]) === text)
        return (
          <Button
            key={label}
            isSmall
            aria-pressed={at >= 0}
            className={classes(
              'rounded-full!',
              at >= 0 && 'border-accent! bg-accent-soft text-accent-strong',
            )}
            onPress={() =>
              change(at >= 0 ? read.filter((_, index) => index !== at) : [...read, ...parseFilter(text)])
            }
          >
            {label}
          </Button>
        )
      })}
      {read.map((term, index) =>
        isQuick(term) ? null : (
          <Chip
            // biome-ignore lint/suspicious/noArrayIndexKey: a term is known by its place
            key={index}
            {...{ source, term, find }}
            onChange={by => change(replaced(read, [index], by))}
          />
        ),
      )}
      <DialogTrigger isOpen={isAdding} onOpenChange={setAdding}>
        <Button variant="quiet" isSmall data-add>
          <FilterIcon size={14} aria-hidden />
          Filter
        </Button>
        <Popover placement="bottom start" className="w-76 max-w-[calc(100vw-16px)]">
          <Dialog aria-label="New condition" className="outline-none">
            <ConditionEditor
              source={source}
              condition={null}
              onDone={condition => {
                setAdding(false)
                change([...read, condition])
              }}
            />
          </Dialog>
        </Popover>
      </DialogTrigger>
      <IconButton label="Edit the filter as text" className="size-6!" onPress={() => setText(true)}>
        <Code size={14} aria-hidden />
      </IconButton>
      {read.length > 0 && (
        <Button variant="quiet" isSmall onPress={() => change([])}>
          Clear
        </Button>
      )}
    </fieldset>
  )
}

/** The filter, or the reason why the bar can't show it. */
function reading(filter: string): { readonly read: Filter | null; readonly unreadable?: unknown } {
  try {
    const read = parseFilter(filter)
    // A condition with a wrong number of values can be parsed, but not printed.
    printFilter(read)
    return { read }
  } catch (unreadable) {
    return { read: null, unreadable }
  }
}
