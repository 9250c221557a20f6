/** The product lines of a deal, with exact prices and total in the deal's currency. */
import { X } from 'lucide-react'
import { useEffect, useEffectEvent, useState } from 'react'
import type { Field } from '../api/api.ts'
import { queryClient, recordQuery } from '../api/queries.ts'
import { useFormat } from '../format/use-format.tsx'
import { IconButton } from '../ui/button.tsx'
import { keepFocus } from '../ui/keys.ts'
import { useIsGone, useLatest } from '../ui/use-latest.ts'
import {
  checkLines,
  type DealValue,
  decimalsOfValue,
  type Priced,
  type ProductLine,
  totalOf,
} from './deal-amount.ts'
import { lineAmount, plain } from './decimal.ts'
import { DecimalBox } from './decimal-box.tsx'
import type { Price } from './kinds/prices.tsx'
import type { Match } from './references/find-records.ts'
import { Picker } from './references/picker.tsx'

/** The price of a product in a deal's currency; null if it has none. */
export async function priceIn(product: number, value: DealValue | null): Promise<Priced | null> {
  // A price that was changed since is read again.
  const record = await queryClient.fetchQuery(recordQuery('product', product, '')).catch(() => null)
  // The field of a product with a price for each currency.
  const lists = Object.values(record ?? {}).filter(Array.isArray) as Price[][]
  const price = lists
    .flat()
    .find(one => one?.price !== undefined && one.currency === (value?.currency ?? undefined))
  return price ? { unit_price: price.price, discount: price.discount, tax: price.tax } : null
}

const inputs = [
  { member: 'quantity', label: 'Quantity', width: 'w-20' },
  { member: 'unit_price', label: 'Price', width: 'w-28' },
  { member: 'discount', label: 'Discount %', width: 'w-20' },
  { member: 'tax', label: 'Tax %', width: 'w-20' },
] as const

/** Gets a change of the current lines, which may be others than those of the last render. */
type ChangeLines = (change: (lines: readonly ProductLine[]) => readonly ProductLine[]) => void

/**
 * Adds products with their prices; `asked` are those whose prices are being read. A price that comes once the
 * lines are gone changes nothing: others may be shown by then, which ask for it again.
 */
export function useAdding(value: DealValue | null, onChange: ChangeLines) {
  const latest = useLatest(value)
  const isGone = useIsGone()
  const [notice, setNotice] = useState('')
  const [asked, setAsked] = useState<readonly number[]>([])
  /** The price in the currency that the deal has once the price is known. */
  const currentPrice = async (product: number): Promise<Priced | null> => {
    const asked = latest.current?.currency
    const price = await priceIn(product, latest.current)
    return latest.current?.currency === asked ? price : currentPrice(product)
  }
  const ask = async ({ id, name }: Pick<Match, 'id' | 'name'>) => {
    setAsked(now => [...now, id])
    const price = await currentPrice(id)
    if (isGone.current) return
    setAsked(now => now.filter(one => one !== id))
    const code = latest.current?.currency_code
    setNotice(price ? '' : `${name} has no price in ${code || 'this currency'}. Enter one.`)
    const isOpen = (line: ProductLine) => line.product === id && line.unit_price === null
    if (!price || !latest.current?.products?.some(isOpen)) return
    // A discount or a tax that is typed by then stays.
    const priced = (line: ProductLine) => ({
      ...{ ...line, ...price },
      discount: line.discount ?? price.discount,
      tax: line.tax ?? price.tax,
    })
    onChange(now => now.map(line => (isOpen(line) ? priced(line) : line)))
  }
  const askForOpen = useEffectEvent(() => {
    const open = latest.current?.products?.filter(({ unit_price }) => unit_price === null) ?? []
    for (const { product, name } of open) void ask({ id: product, name: name ?? `No. ${product}` })
  })
  useEffect(() => askForOpen(), [])
  /** Without a price a line is refused, so none is lost that is saved before its price is known. */
  const add = (found: Match) => {
    const { id, name, detail } = found
    const open = { unit_price: null, discount: null, tax: null }
    onChange(now => [...now, { product: id, name, product_code: detail ?? null, quantity: '1', ...open }])
    void ask(found)
  }
  return { add, asked, notice }
}

export function ProductLines(props: {
  value: DealValue | null
  field: Field
  adding: ReturnType<typeof useAdding>
  onChange: ChangeLines
  onPending: (text: string) => void
}) {
  const { value, field, adding, onChange, onPending } = props
  const { add, asked, notice } = adding
  const format = useFormat()
  const lines = value?.products ?? []
  const decimals = decimalsOfValue(value)
  const code = value?.currency_code ?? ''
  const wrong = value ? checkLines(value, field.config) : {}
  const money = (amount: string | undefined) =>
    amount === undefined ? '—' : format.money({ currency_code: code, value: Number(amount) })
  const change = (at: number, next: Partial<ProductLine>) =>
    onChange(now => now.map((line, index) => (index === at ? { ...line, ...next } : line)))
  return (
    <div ref={keepFocus} className="flex flex-col gap-2">
      {lines.length > 0 && (
        <div className="overflow-x-auto rounded-md border border-line">
          <table className="w-full min-w-[560px] border-collapse text-left">
            <thead className="bg-sunken text-sm text-ink-soft">
              <tr>
                <th scope="col" className="px-2.5 py-1.5 font-medium">
                  Product
                </th>
                {inputs.map(({ member, label, width }) => (
                  <th key={member} scope="col" className={`${width} px-1 py-1.5 text-right font-medium`}>
                    {label}
                  </th>
                ))}
                <th scope="col" className="px-2.5 py-1.5 text-right font-medium">
                  Amount
                </th>
                <th scope="col" className="w-9">
                  <span className="unseen">Remove</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {lines.map((line, index) => {
                const name = line.name ?? `No. ${line.product}`
                const amount = lineAmount(line, decimals)
                return (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a product may be in several lines
                  <tr key={index} className="border-t border-line align-top">
                    <td className="px-2.5 py-2">
                      <bdi className="clamp-2">{name}</bdi>
                      {line.product_code && (
                        <span className="text-sm text-ink-faint">{line.product_code}</span>
                      )}
                      {wrong[index] && !asked.includes(line.product) && (
                        <p className="text-sm text-lost">{wrong[index]}</p>
                      )}
                    </td>
                    {inputs.map(({ member, label }) => (
                      <td key={member} className="px-1 py-1.5">
                        <DecimalBox
                          aria-label={`${label} of ${name}`}
                          digits={member === 'unit_price' ? decimals : 0}
                          value={line[member]}
                          onChange={typed => change(index, { [member]: typed })}
                          className="min-w-full px-2! text-right [field-sizing:content]"
                        />
                      </td>
                    ))}
                    <td className="tabular px-2.5 py-2 text-right whitespace-nowrap">
                      {money(amount && plain(amount))}
                    </td>
                    <td className="py-1.5">
                      <IconButton
                        label={`Remove ${name}`}
                        onPress={() => onChange(now => now.filter((_, at) => at !== index))}
                      >
                        <X size={14} aria-hidden />
                      </IconButton>
                    </td>
                  </tr>
                )
              })}
            </tbody>
            <tfoot>
              <tr className="border-t border-line font-medium">
                <th scope="row" colSpan={5} className="px-2.5 py-2 text-right font-medium">
                  Total
                </th>
                <td className="tabular px-2.5 py-2 text-right whitespace-nowrap">{money(totalOf(value))}</td>
                <td />
              </tr>
            </tfoot>
          </table>
        </div>
      )}
      <Picker
        resource="product"
        label="Add a product"
        placeholder="Add a product…"
        shown=""
        typed={value?.pending}
        onPick={add}
        onPending={onPending}
      />
      <p role="status" className="text-sm text-warn empty:hidden">
        {notice}
      </p>
    </div>
  )
}
