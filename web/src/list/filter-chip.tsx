/** A condition or a group of a filter, in words; a press edits it. */
import { Plus, X } from 'lucide-react'
import { useId, useState } from 'react'
import { Dialog, DialogTrigger } from 'react-aria-components'
import type { FilterNode, Group } from '../../../client/src/filter.ts'
import { kindOf } from '../fields/kinds.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Select } from '../ui/inputs.tsx'
import { Popover } from '../ui/menu.tsx'
import { ConditionEditor } from './condition-editor.tsx'
import type { ResolvedPath } from './field-path.ts'
import { asksPresence, replaced } from './filter.ts'
import { OperandText } from './operand-text.tsx'
import { conditionLabel, groupWords } from './operator-text.ts'

type ChipProps = {
  source: string
  term: FilterNode
  find: (path: string) => ResolvedPath | null
  onChange: (by: FilterNode | null) => void
}

export function Chip({ source, term, find, onChange }: ChipProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const change = (by: FilterNode | null) => {
    // The next term takes the place of a removed one, and this popover with it.
    if (!by) setOpen(false)
    onChange(by)
  }
  return (
    <span className="inline-flex max-w-full items-center rounded-full border border-line bg-surface">
      <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
        <Button variant="quiet" isSmall className="min-w-0 shrink! rounded-full! pr-1! text-ink!">
          <span id={`${id}text`} className="max-w-90 truncate" dir="auto">
            <TermText term={term} find={find} />
          </span>
        </Button>
        <Popover placement="bottom start" className="w-76 max-w-[calc(100vw-16px)]">
          <Dialog aria-label="Change the condition" className="outline-none">
            {term.type === 'condition' ? (
              <ConditionEditor
                source={source}
                condition={term}
                onRemove={() => change(null)}
                onOr={condition => change({ type: 'or', of: [condition] })}
                onDone={condition => {
                  setOpen(false)
                  onChange(condition)
                }}
              />
            ) : (
              <GroupEditor {...{ source, find }} group={term} onChange={change} />
            )}
          </Dialog>
        </Popover>
      </DialogTrigger>
      <IconButton
        id={`${id}remove`}
        label="Remove the condition"
        aria-labelledby={`${id}remove ${id}text`}
        className="size-6! rounded-full!"
        onPress={() => change(null)}
      >
        <X size={12} aria-hidden />
      </IconButton>
    </span>
  )
}

/** Describes a condition in words. */
function TermText({ term, find }: { term: FilterNode; find: ChipProps['find'] }) {
  if (term.type !== 'condition')
    return (
      <>
        <span className="text-ink-soft">{groupWords[term.type]} </span>
        {term.of.map((inner, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a term is known by its place
          <span key={index}>
            {index > 0 && ' · '}
            <TermText term={inner} find={find} />
          </span>
        ))}
      </>
    )
  const resolved = find(term.field)
  const isTime = resolved !== null && kindOf(resolved.field).isTime === true
  const operator = conditionLabel(term, isTime)
  return (
    <>
      {resolved?.label ?? term.field} <span className="text-ink-soft">{operator}</span>{' '}
      {!asksPresence(term.operator) &&
        term.values.map((value, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a value is known by its place
          <span key={index} className="font-medium">
            {index > 0 && (term.operator === 'between' ? ' – ' : ', ')}
            <OperandText resolved={resolved} value={value} />
          </span>
        ))}
    </>
  )
}

function GroupEditor(props: Omit<ChipProps, 'term'> & { group: Group }) {
  const { source, group, find, onChange } = props
  const [isAdding, setAdding] = useState(false)
  return (
    <div className="flex flex-col gap-2 p-2">
      <Select
        label="Match"
        isLabelHidden
        value={group.type}
        choices={Object.entries(groupWords).map(([id, name]) => ({ id, name: `${name} these` }))}
        onChange={type => onChange({ ...group, type: type as Group['type'] })}
      />
      {group.of.map((term, index) => (
        <Chip
          // biome-ignore lint/suspicious/noArrayIndexKey: a term is known by its place
          key={index}
          {...{ source, term, find }}
          onChange={by => onChange(replaced([group], [0, index], by)[0] ?? null)}
        />
      ))}
      {isAdding ? (
        <ConditionEditor
          source={source}
          condition={null}
          onDone={condition => {
            setAdding(false)
            onChange({ ...group, of: [...group.of, condition] })
          }}
        />
      ) : (
        <Button variant="quiet" isSmall className="self-start" onPress={() => setAdding(true)}>
          <Plus size={14} aria-hidden />
          Another condition
        </Button>
      )}
    </div>
  )
}
