/** PRICE_TAGS: one price for each currency (D26), as a table with a row for each. */
import { Plus, X } from 'lucide-react'
import { useFormat } from '../../format/use-format.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Fitting } from '../../ui/fitting.tsx'
import { decimalsOf, useCurrencies } from '../currencies.ts'
import { checkDecimal, isDecimal, percentage, plain, priceDecimals } from '../decimal.ts'
import { DecimalBox } from '../decimal-box.tsx'
import { Group } from '../group.tsx'
import type { InputProps, Kind } from '../kind.ts'
import { CurrencySelect } from '../money-box.tsx'
import { operandOf } from '../operand.tsx'
import { checkCode, readMoney, textOfMoney } from './money.tsx'
import { checkNumberOperand, DecimalOperand } from './number.tsx'

type Decimal = number | string | null

export type Price = {
  readonly currency?: number | null
  readonly currency_code?: string | null
  readonly price: Decimal
  readonly tax: Decimal
  readonly discount: Decimal
}

const columns = [
  { member: 'price', label: 'Price' },
  { member: 'discount', label: 'Discount %' },
  { member: 'tax', label: 'Tax %' },
] as const

function PricesInput(props: InputProps<readonly Price[]>) {
  const { value, onChange, field, label, isLabelHidden, error, autoFocus } = props
  const { list } = useCurrencies()
  const prices = value ?? []
  const used = prices.map(({ currency }) => currency).filter(id => typeof id === 'number')
  const free = list.find(({ id }) => !used.includes(id))
  const change = (at: number, next: Partial<Price>) =>
    onChange(prices.map((price, index) => (index === at ? { ...price, ...next } : price)))
  return (
    <Group {...{ label, isLabelHidden, error }} isRequired={field.is_required}>
      <div className="overflow-x-auto">
        {prices.length > 0 && (
          <table className="w-full min-w-96 border-separate border-spacing-1 text-left">
            <thead className="text-sm text-ink-faint">
              <tr>
                <th scope="col" className="w-22 font-normal">
                  Currency
                </th>
                {columns.map(({ member, label }) => (
                  <th key={member} scope="col" className="text-right font-normal">
                    {label}
                  </th>
                ))}
                <th scope="col">
                  <span className="unseen">Remove</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {prices.map((price, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: its currency, which would name it, may change
                <tr key={index}>
                  <td>
                    <CurrencySelect
                      label={`Currency of price ${index + 1}`}
                      value={
                        price.currency ?? list.find(({ code }) => code === price.currency_code)?.id ?? null
                      }
                      code={price.currency_code}
                      without={used}
                      onChange={({ id, code }) => change(index, { currency: id, currency_code: code })}
                    />
                  </td>
                  {columns.map(({ member, label }, at) => (
                    <td key={member}>
                      <DecimalBox
                        aria-label={`${label} in ${price.currency_code ?? `row ${index + 1}`}`}
                        autoFocus={autoFocus && index === 0 && at === 0}
                        digits={member === 'price' ? (decimalsOf(price.currency) ?? 0) : 0}
                        value={price[member]}
                        onChange={typed => change(index, { [member]: typed })}
                        className="min-w-full text-right [field-sizing:content]"
                      />
                    </td>
                  ))}
                  <td className="w-8">
                    <IconButton
                      label={`Remove the price in ${price.currency_code ?? `row ${index + 1}`}`}
                      onPress={() => onChange(prices.filter((_, at) => at !== index))}
                    >
                      <X size={14} aria-hidden />
                    </IconButton>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <Button
        variant="quiet"
        isSmall
        className="self-start"
        isDisabled={!free}
        onPress={() =>
          free &&
          onChange([
            ...prices,
            { currency: free.id, currency_code: free.code, price: null, tax: null, discount: null },
          ])
        }
      >
        <Plus size={14} aria-hidden />
        Add a price
      </Button>
    </Group>
  )
}

function PricesCell({ value }: { value: readonly Price[] }) {
  const format = useFormat()
  const amounts = value.map(({ price, currency_code }) => ({
    currency_code: currency_code ?? null,
    value: Number(price),
  }))
  const [first, ...others] = amounts
  if (!first) return '—'
  return (
    <span className="inline-flex max-w-full gap-1">
      <Fitting
        whole={format.money(first)}
        short={format.compactMoney(first)}
        title={amounts.map(format.codedMoney).join(' · ')}
      />
      {others.length > 0 && <span className="tabular text-ink-faint">+{others.length}</span>}
    </span>
  )
}

function check(value: readonly Price[], { config }: Parameters<NonNullable<Kind['check']>>[1]) {
  const seen = new Set<unknown>()
  for (const { currency, currency_code, price, tax, discount } of value) {
    const named = currency_code ?? currency
    if (seen.has(named)) return `${named}: another price is in this currency already.`
    seen.add(named)
    const limits = { ...config, ...priceDecimals }
    const wrong =
      checkCode(currency_code) ??
      checkDecimal(price, limits) ??
      [tax, discount].map(percent => percent !== null && checkDecimal(percent, percentage)).find(Boolean)
    if (wrong) return `${named}: ${wrong}`
  }
  return undefined
}

const sent = (value: Decimal) => (isDecimal(value) ? plain(value) : value)

export const prices: Kind<readonly Price[]> = {
  Cell: PricesCell,
  Input: PricesInput,
  Operand: operandOf(DecimalOperand),
  checkOperand: checkNumberOperand,
  text: (value, _names, format) =>
    value
      .map(({ price, currency_code }) =>
        textOfMoney({ value: price, currency_code: currency_code ?? null }, format),
      )
      .join('; '),
  parse: (typed, _field, format) => {
    const list = typed.split(/[;\n]/).map(part => readMoney(part, format))
    if (list.some(one => one === undefined)) return undefined
    return list
      .filter(one => one !== null && one !== undefined)
      .map(({ currency_code, value }) => ({
        currency_code: currency_code ?? null,
        price: value ?? null,
        tax: null,
        discount: null,
      }))
  },
  keep: (value, before) =>
    value.map(price => {
      const { tax, discount } = before?.find(one => one.currency_code === price.currency_code) ?? price
      return { ...price, tax, discount }
    }),
  check,
  write: value =>
    value.map(({ currency, currency_code, price, tax, discount }) => ({
      currency: currency ?? currency_code,
      unit_price: sent(price),
      tax: sent(tax),
      discount: sent(discount),
    })),
  width: 130,
  align: 'end',
}
