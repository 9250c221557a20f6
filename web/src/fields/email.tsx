/** EMAIL: several of a type each (D13). */
import { checkEntries, EntriesBox, type Entry, filled, readEntries, writeEntries } from './entries.tsx'
import type { Kind } from './kind.ts'
import { operandOf, TextOperand } from './operand.tsx'
import { checkLength } from './text.tsx'

const types = ['Work', 'Personal', 'Home', 'Other']

type Sent = { readonly email_type: number; readonly email_value: string }

const read = (value: readonly Sent[]): Entry[] =>
  value.map(({ email_type, email_value }) => ({ type: email_type, value: email_value }))
const write = (entries: readonly Entry[]): Sent[] =>
  entries.map(({ type, value }) => ({ email_type: type, email_value: value }))

const pattern = /^(?!\.)(?!.*\.[.@])[^\s@"(),:;<>[\\\]]+@[^\s@.]+(\.[^\s@.]+)+$/u

function checkOne(value: string): string | undefined {
  const wrong = checkLength(value, { min_length: 3, max_length: 320 })
  return (
    wrong ?? (pattern.test(value) ? undefined : 'Must be a valid e-mail address, such as jo@example.com.')
  )
}

export const email: Kind<readonly Sent[]> = {
  Cell: ({ value }) => {
    const [first, ...more] = value
    if (!first) return <span className="text-ink-faint">—</span>
    return (
      <span title={writeEntries(read(value), types)}>
        <a href={`mailto:${encodeURI(first.email_value)}`} className="linked">
          <bdi>{first.email_value}</bdi>
        </a>
        {more.length > 0 && <span className="text-ink-faint"> +{more.length}</span>}
      </span>
    )
  },
  Input: ({ value, onChange, ...props }) => (
    <EntriesBox
      {...props}
      types={types}
      noun="e-mail"
      inputType="email"
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
