/** The order of a list: one key, or several. `s` opens it. */
import { ArrowUpDown, Plus, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Dialog, DialogTrigger } from 'react-aria-components'
import { parseSort, type SortKey } from '../../../client/src/filter.ts'
import { useCommands } from '../shell/commands.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Select } from '../ui/inputs.tsx'
import { keepFocus } from '../ui/keys.ts'
import { Popover } from '../ui/menu.tsx'
import { quickSorts } from './quick-filters.ts'
import { printSort } from './sort.ts'
import { useFieldPaths, useFields } from './use-fields.ts'

type Props = { source: string; sort: string; onChange: (sort: string) => void }

export function SortMenu({ source, sort, onChange }: Props) {
  const [isOpen, setOpen] = useState(false)
  const commands = useMemo(
    () => [{ id: 'sort', title: 'Sort', group: 'List', keys: 's', act: () => setOpen(true) }],
    [],
  )
  useCommands(commands)
  const keys = readSort(sort)
  const { find } = useFieldPaths(
    source,
    keys.map(({ field }) => field),
  )
  const labelOf = (field: string) => find(field)?.label ?? field
  const labels = keys.map(({ field }) => labelOf(field)).join(', ')
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button variant="quiet" isSmall className="max-w-60">
        <ArrowUpDown size={14} aria-hidden />
        <span className="truncate">Sort{labels && `: ${labels}`}</span>
      </Button>
      <Popover placement="bottom end" className="w-84 max-w-[calc(100vw-16px)]">
        <Dialog ref={keepFocus} aria-label="Sort" className="flex flex-col gap-2 p-2 outline-none">
          <Keys {...{ source, keys }} labelOf={labelOf} onChange={next => onChange(printSort(next))} />
          <QuickSorts {...{ source, sort, onChange }} />
        </Dialog>
      </Popover>
    </DialogTrigger>
  )
}

/** The keys of a sort; none if the text is invalid. */
export function readSort(sort: string): readonly SortKey[] {
  try {
    return parseSort(sort)
  } catch {
    return []
  }
}

/** One press for an order that is often wanted. */
function QuickSorts({ source, sort, onChange }: Props) {
  const fields = useFields(source)
  return quickSorts(source)
    .filter(({ needs }) => fields.some(({ internal_name }) => internal_name === needs))
    .map(({ label, sort: wanted }) => (
      <Button
        key={label}
        isSmall
        className="self-start rounded-full!"
        aria-pressed={sort === wanted}
        onPress={() => onChange(wanted)}
      >
        {label}
      </Button>
    ))
}

const directions = [
  { id: 'asc', name: 'Ascending' },
  { id: 'desc', name: 'Descending' },
]

function Keys(props: {
  source: string
  keys: readonly SortKey[]
  labelOf: (field: string) => string
  onChange: (keys: readonly SortKey[]) => void
}) {
  const { source, keys, labelOf, onChange } = props
  const sortable = useFields(source).filter(({ is_sortable }) => is_sortable)
  const choices = sortable.map(({ internal_name, field_name }) => ({ id: internal_name, name: field_name }))
  const free = choices.filter(({ id }) => keys.every(({ field }) => field !== id))
  const change = (index: number, changes: Partial<SortKey>) =>
    onChange(keys.map((key, at) => (at === index ? { ...key, ...changes } : key)))
  return (
    <>
      {keys.map(({ field, direction }, index) => (
        <div key={field} className="flex items-center gap-1">
          <Select
            label={index ? `Then by, ${index + 1}` : 'Sort by'}
            isLabelHidden
            className="grow"
            value={field}
            choices={[{ id: field, name: labelOf(field) }, ...free]}
            onChange={id => id && change(index, { field: id })}
          />
          <Select
            label={`Direction ${index + 1}`}
            isLabelHidden
            className="shrink-0"
            value={direction}
            choices={directions}
            onChange={id => change(index, { direction: id as SortKey['direction'] })}
          />
          <IconButton
            label={`Remove ${labelOf(field)}`}
            onPress={() => onChange(keys.filter((_, at) => at !== index))}
          >
            <X size={14} aria-hidden />
          </IconButton>
        </div>
      ))}
      {keys.length === 0 && <p className="px-1 text-ink-soft">In the default order.</p>}
      {free.length > 0 && (
        <Button
          variant="quiet"
          isSmall
          className="self-start"
          onPress={() => onChange([...keys, { field: free[0]!.id, direction: 'asc' }])}
        >
          <Plus size={14} aria-hidden />
          {keys.length ? 'Then by…' : 'Sort by…'}
        </Button>
      )}
    </>
  )
}
