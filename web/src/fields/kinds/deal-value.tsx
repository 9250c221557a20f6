/** DEAL_VALUE: an amount in a currency, with the products that the deal is about. */
import { useId, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Checkbox, Labelled } from '../../ui/inputs.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { BaseCode } from '../base-currency-code.tsx'
import {
  checkLines,
  type DealValue,
  followsLines,
  type ProductLine,
  repriced,
  totalOf,
  withLines,
  writeDealValue,
} from '../deal-amount.ts'
import type { InputProps, Kind } from '../kind.ts'
import { MoneyBox } from '../money-box.tsx'
import { operandOf } from '../operand.tsx'
import { ProductLines, priceIn, useAdding } from '../product-lines.tsx'
import { checkMoney, inShownCurrency, MoneyCell, readMoney, textOfMoney } from './money.tsx'
import { checkNumberOperand, DecimalOperand } from './number.tsx'

function DealValueInput(props: InputProps<DealValue>) {
  const { value, onChange, field, label, isLabelHidden, error, autoFocus } = props
  const lines = value?.products ?? []
  const [isOpen, setOpen] = useState(lines.length > 0 || value?.pending !== undefined)
  const id = useId()
  const follows = followsLines(value)
  const latest = useLatest(value)
  const change = (next: DealValue | null) => {
    latest.current = next
    onChange(next)
  }
  const repricing = useRef<Promise<void>>(Promise.resolve())
  /** Prices of products are those in the currency; if there is none, the user has to enter it. */
  const reprice = async (before: DealValue | null, next: DealValue) => {
    const products = latest.current?.products?.map(({ product }) => product) ?? []
    const prices = new Map(
      await Promise.all(
        products.map(async product => {
          const found = await Promise.all([priceIn(product, before), priceIn(product, next)])
          return [product, found] as const
        }),
      ),
    )
    const priced = latest.current?.products?.map(line => {
      const found = prices.get(line.product)
      return found ? repriced(line, ...found) : line
    })
    if (priced?.length) change(withLines(latest.current, priced))
  }
  const changeLines = (make: (lines: readonly ProductLine[]) => readonly ProductLine[]) =>
    change(withLines(latest.current, make(latest.current?.products ?? [])))
  const adding = useAdding(value, changeLines)
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Labelled {...{ label, isLabelHidden, error }} isRequired={field.is_required}>
        {wiring => (
          <MoneyBox
            wiring={wiring}
            label={label}
            autoFocus={autoFocus}
            isDisabled={follows && !isLabelHidden}
            value={follows && !isLabelHidden ? { ...value, value: totalOf(value) } : value}
            onChange={money => {
              // If the lines are hidden, the typed amount is the value. Amounts of two currencies can't be
              // compared, so `follows` is set.
              const next = {
                ...value,
                ...money,
                ...(lines.length > 0 && { follows: follows && !isLabelHidden }),
              }
              change(next.value === null && lines.length === 0 && !next.pending ? null : next)
              // One currency after the other: each begins with the prices of the one before.
              if (money.currency !== value?.currency && lines.length > 0)
                repricing.current = repricing.current.then(() => reprice(value, next))
            }}
          />
        )}
      </Labelled>
      {!isLabelHidden && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <Button
            variant="quiet"
            isSmall
            aria-expanded={isOpen}
            aria-controls={id}
            onPress={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Hide products' : lines.length > 0 ? `Products (${lines.length})` : 'Add products'}
          </Button>
          {lines.length > 0 && (
            <Checkbox
              label="Value follows the products"
              checked={follows}
              onChange={isOn => change(withLines({ ...value, follows: isOn }, lines))}
            />
          )}
        </div>
      )}
      {isOpen && !isLabelHidden && (
        <div id={id}>
          <ProductLines
            value={value}
            field={field}
            onPending={text => {
              const { pending = '', ...others } = latest.current ?? {}
              const rest = Object.keys(others).length > 0 ? others : null
              if (text !== pending) change(text ? { ...others, pending: text } : rest)
            }}
            adding={adding}
            onChange={changeLines}
          />
        </div>
      )}
    </div>
  )
}

export const dealValue: Kind<DealValue> = {
  Cell: MoneyCell,
  Input: DealValueInput,
  Operand: operandOf(DecimalOperand),
  checkOperand: checkNumberOperand,
  Unit: BaseCode,
  text: (value, _names, format) => textOfMoney(value, format),
  parse: (typed, _field, format) => readMoney(typed, format),
  check: (value, field) => {
    const wrong = Object.entries(checkLines(value, field.config))[0]
    if (value.pending) return `Choose a product for “${value.pending}”, or empty the box.`
    return checkMoney(value, field) ?? (wrong && `Product ${Number(wrong[0]) + 1}: ${wrong[1]}`)
  },
  asShown: inShownCurrency,
  write: writeDealValue,
  width: 140,
  align: 'end',
}
