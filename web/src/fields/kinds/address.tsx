/** ADDRESS: read as an array of one address (D17). */
import { Group } from '../group.tsx'
import type { Kind } from '../kind.ts'
import { operandOf, TextOperand } from '../operand.tsx'

type Member = 'address_line1' | 'address_line2' | 'zipcode' | 'city' | 'state' | 'country'
type Address = { readonly [member in Member]?: string | number | null }

const members: readonly { name: Member; label: string; most: number; fill: string; span?: true }[] = [
  { name: 'address_line1', label: 'Street and number', most: 300, fill: 'address-line1', span: true },
  { name: 'address_line2', label: 'Address, second line', most: 300, fill: 'address-line2', span: true },
  { name: 'zipcode', label: 'Postal code', most: 25, fill: 'postal-code' },
  { name: 'city', label: 'City', most: 125, fill: 'address-level2' },
  { name: 'state', label: 'State or region', most: 125, fill: 'address-level1' },
  { name: 'country', label: 'Country', most: 125, fill: 'country-name' },
]

function lines(value: readonly Address[]): string[] {
  const { address_line1, address_line2, zipcode, city, state, country } = value[0] ?? {}
  const town = [zipcode, city].filter(Boolean).join(' ')
  return [address_line1, address_line2, town, state, country].filter(Boolean).map(String)
}

export const address: Kind<readonly Address[]> = {
  Cell: ({ value }) => <span dir="auto">{lines(value).join(', ')}</span>,
  Input: ({ value, onChange, field, label, isLabelHidden, error, autoFocus }) => {
    const current = value?.[0] ?? {}
    const change = (name: Member, typed: string) => {
      const next = { ...current, [name]: typed === '' ? null : typed }
      onChange(Object.values(next).some(Boolean) ? [next] : null)
    }
    return (
      <Group {...{ label, isLabelHidden, error }} isRequired={field.is_required}>
        <div className="grid grid-cols-2 gap-1.5">
          {members.map(({ name, label, fill, span }, index) => (
            <input
              key={name}
              aria-label={label}
              placeholder={label}
              dir="auto"
              autoComplete={fill}
              autoFocus={autoFocus && index === 0}
              aria-invalid={error ? true : undefined}
              value={current[name] ?? ''}
              onChange={event => change(name, event.target.value)}
              className={span ? 'field-box col-span-2' : 'field-box'}
            />
          ))}
        </div>
      </Group>
    )
  },
  Operand: operandOf(TextOperand),
  text: value => lines(value).join(', '),
  // A pasted address can't be split into its parts.
  parse: typed => {
    const text = typed.trim().replace(/\s*[\r\n]+\s*/g, ', ')
    return text === '' ? null : [{ address_line1: text }]
  },
  check: ([value]) => {
    const long = members.find(({ name, most }) => [...String(value?.[name] ?? '')].length > most)
    return long && `${long.label} must have at most ${long.most} characters.`
  },
  width: 240,
}
