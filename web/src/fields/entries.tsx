/** Lists of entries with a type, such as work and mobile: shared by PHONE and EMAIL (D13). */
import { Plus, X } from 'lucide-react'
import { useRef } from 'react'
import { Button, IconButton } from '../ui/button.tsx'
import { Group } from './group.tsx'
import type { InputProps, Kind } from './kind.ts'
import { operandOf, TextOperand } from './operand.tsx'

export type Entry = { readonly type: number; readonly value: string }

/** `types[0]` is type 1, as the service counts them. */
function EntriesBox(
  props: Omit<InputProps<readonly Entry[]>, 'names'> & {
    types: readonly string[]
    noun: string
    inputType: 'tel' | 'email'
  },
) {
  const { value, onChange, field, label, isLabelHidden, error, autoFocus, types, noun, inputType } = props
  const list = useRef<HTMLDivElement>(null)
  const entries = value ?? []
  const shown = entries.length > 0 ? entries : [{ type: 1, value: '' }]
  const change = (at: number, next: Partial<Entry>) =>
    onChange(shown.map((entry, index) => (index === at ? { ...entry, ...next } : entry)))
  const add = () => {
    onChange([...shown, { type: 1, value: '' }])
    requestAnimationFrame(() => [...(list.current?.querySelectorAll('input') ?? [])].at(-1)?.focus())
  }
  return (
    <Group {...{ label, isLabelHidden, error }} isRequired={field.is_required}>
      <div ref={list} className="flex flex-col gap-1.5">
        {shown.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry is known by its place only
          <div key={index} className="flex flex-wrap items-center gap-1.5">
            <select
              aria-label={`${label} ${index + 1}, type`}
              value={entry.type}
              onChange={event => change(index, { type: Number(event.target.value) })}
              className="field-box w-auto! shrink-0"
            >
              {types.map((name, at) => (
                <option key={name} value={at + 1}>
                  {name}
                </option>
              ))}
            </select>
            <input
              type={inputType}
              aria-label={`${label} ${index + 1}`}
              aria-invalid={error ? true : undefined}
              autoFocus={autoFocus && index === 0}
              value={entry.value}
              onChange={event => change(index, { value: event.target.value })}
              className="field-box w-0! min-w-32 grow"
            />
            {entries.length > 0 && (
              <IconButton
                label={`Remove ${noun} ${index + 1}`}
                onPress={() => onChange(entries.filter((_, at) => at !== index))}
              >
                <X size={14} aria-hidden />
              </IconButton>
            )}
          </div>
        ))}
      </div>
      <Button variant="quiet" isSmall className="self-start" onPress={add}>
        <Plus size={14} aria-hidden />
        Add {noun}
      </Button>
    </Group>
  )
}

/** The entries that were filled in. */
export const filled = (entries: readonly Entry[]) =>
  entries.map(({ type, value }) => ({ type, value: value.trim() })).filter(({ value }) => value !== '')

/** "mobile: +1 555 0100, +1 555 0101" as entries; without a type they are of the first. */
function readEntries(text: string, types: readonly string[]): Entry[] {
  const list = text.split(/[,;\n]/).map(part => {
    const [, named, rest] = /^\s*([a-z]+)\s*:\s*(.+)$/i.exec(part) ?? []
    const type = types.findIndex(name => name.toLowerCase() === named?.toLowerCase())
    return type < 0 ? { type: 1, value: part } : { type: type + 1, value: rest! }
  })
  return filled(list)
}

const writeEntries = (entries: readonly Entry[], types: readonly string[]) =>
  entries.map(({ type, value }) => (type === 1 ? value : `${types[type - 1]}: ${value}`)).join(', ')

function checkEntries(
  entries: readonly Entry[],
  max: number | undefined,
  checkOne: (value: string) => string | undefined,
): string | undefined {
  const list = filled(entries)
  const most = max ?? 20
  if (list.length > most) return `Must have at most ${most} entries.`
  for (const { value } of list) {
    const wrong = checkOne(value)
    if (wrong) return wrong
  }
  return undefined
}

/** The differences between PHONE and EMAIL. */
type EntriesOf<Sent> = {
  readonly types: readonly string[]
  readonly noun: string
  readonly inputType: 'tel' | 'email'
  /** address of the link that calls or writes to an entry */
  readonly href: (value: string) => string
  readonly read: (sent: Sent) => Entry
  readonly write: (entry: Entry) => Sent
  /** the problem of one entry */
  readonly checkOne: (value: string) => string | undefined
}

export function entriesKind<Sent>(of: EntriesOf<Sent>): Kind<readonly Sent[]> {
  const { types, noun, inputType, href, checkOne } = of
  const read = (value: readonly Sent[]) => value.map(of.read)
  const write = (entries: readonly Entry[]) => entries.map(of.write)
  return {
    Cell: ({ value }) => {
      const [first, ...more] = read(value)
      if (!first) return <span className="text-ink-faint">—</span>
      return (
        <span title={writeEntries(read(value), types)}>
          <a href={href(first.value)} className="linked">
            <bdi>{first.value}</bdi>
          </a>
          {more.length > 0 && <span className="text-ink-faint"> +{more.length}</span>}
        </span>
      )
    },
    Input: ({ value, onChange, ...props }) => (
      <EntriesBox
        {...props}
        {...{ types, noun, inputType }}
        value={value && read(value)}
        onChange={entries => onChange(entries && write(entries))}
      />
    ),
    Operand: operandOf(TextOperand),
    text: value => writeEntries(read(value), types),
    parse: typed => write(readEntries(typed, types)),
    check: (value, { config }) => checkEntries(read(value), config.max_limit, checkOne),
    write: value => write(filled(read(value))),
    width: 190,
  }
}
