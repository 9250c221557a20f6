/** An amount and its currency. */
import { useState } from 'react'
import type { Wiring } from '../ui/inputs.tsx'
import { type Currency, decimalsOf, useCurrencies } from './currencies.ts'
import { DecimalBox } from './decimal-box.tsx'
import type { Money } from './kinds/money.tsx'

export function CurrencySelect(props: {
  label: string
  value: number | null
  /** the code of a value that is not among the choices: they are loading, or it is out of use */
  code: string | null | undefined
  onChange: (currency: Currency) => void
  without?: readonly number[]
}) {
  const { label, value, code, onChange, without } = props
  const { list } = useCurrencies()
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={event => {
        const chosen = list.find(({ id }) => String(id) === event.target.value)
        if (chosen) onChange(chosen)
      }}
      className="field-box w-22! shrink-0"
    >
      {!list.some(({ id }) => id === value) && <option value={value ?? ''}>{code ?? '…'}</option>}
      {list
        .filter(({ id }) => id === value || !without?.includes(id))
        .map(({ id, code, name }) => (
          <option key={id} value={id} title={name}>
            {code}
          </option>
        ))}
    </select>
  )
}

/** `value.value` is null if the amount was cleared; the chosen currency stays. */
export function MoneyBox(props: {
  wiring: Partial<Wiring>
  label: string
  value: Money | null
  onChange: (value: Money) => void
  isDisabled?: boolean
  autoFocus?: boolean | undefined
}) {
  const { wiring, label, value, onChange, isDisabled, autoFocus } = props
  const { list, base } = useCurrencies()
  const [last, setLast] = useState<Money | null>(null)
  // A named currency stays, though it is not in the list yet, or no longer.
  const isNamed = Boolean(value?.currency ?? value?.currency_code)
  const own = list.find(({ id, code }) => id === value?.currency || code === value?.currency_code)
  const inBase = { currency: base?.id ?? null, currency_code: base?.code ?? null }
  const named = isNamed ? value : (last ?? inBase)
  return (
    <span className="flex min-w-0 gap-1.5">
      <DecimalBox
        {...wiring}
        autoFocus={autoFocus}
        disabled={isDisabled}
        digits={decimalsOf(named?.currency ?? named?.currency_code) ?? 0}
        value={value?.value ?? null}
        onChange={amount => {
          // A cleared amount may become null, with its currency.
          if (isNamed)
            setLast({ currency: value?.currency ?? null, currency_code: value?.currency_code ?? null })
          onChange({ ...value, ...named, value: amount })
        }}
        className="min-w-0 text-right"
      />
      <CurrencySelect
        label={`${label}, currency`}
        value={own?.id ?? named?.currency ?? null}
        code={named?.currency_code}
        onChange={next => {
          const taken = { currency: next.id, currency_code: next.code }
          setLast(taken)
          onChange({ ...value, ...taken, value: value?.value ?? null })
        }}
      />
    </span>
  )
}
