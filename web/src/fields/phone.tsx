/** PHONE: several of a type each (D13). */
import { checkEntries, EntriesBox, type Entry, filled, readEntries, writeEntries } from './entries.tsx'
import type { Kind } from './kind.ts'
import { operandOf, TextOperand } from './operand.tsx'
import { checkLength } from './text.tsx'

const types = ['Work', 'Phone', 'Mobile', 'WhatsApp', 'Telegram', 'Personal', 'Other']

type Sent = { readonly phone_type: number; readonly phone_number: string }

const read = (value: readonly Sent[]): Entry[] =>
  value.map(({ phone_type, phone_number }) => ({ type: phone_type, value: phone_number }))
const write = (entries: readonly Entry[]): Sent[] =>
  entries.map(({ type, value }) => ({ phone_type: type, phone_number: value }))

const pattern = /^(?=\D*\d)[-+\d\s()./#*,;a-zA-Z]+$/u

function checkOne(value: string): string | undefined {
  const wrong = checkLength(value, { min_length: 5, max_length: 17 })
  return wrong ?? (pattern.test(value) ? undefined : 'Must be a phone number, such as +1 555 0100.')
}

export const phone: Kind<readonly Sent[]> = {
  Cell: ({ value }) => {
    const [first, ...more] = value
    if (!first) return <span className="text-ink-faint">—</span>
    return (
      <span title={writeEntries(read(value), types)}>
        <a href={`tel:${encodeURI(first.phone_number)}`} className="linked">
          <bdi>{first.phone_number}</bdi>
        </a>
        {more.length > 0 && <span className="text-ink-faint"> +{more.length}</span>}
      </span>
    )
  },
  Input: ({ value, onChange, ...props }) => (
    <EntriesBox
      {...props}
      types={types}
      noun="phone number"
      inputType="tel"
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
