/** The currencies that an account uses: its base currency first, then those with a rate. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { currenciesQuery, mayRead, meQuery, queryClient } from '../api/queries.ts'

export type Currency = {
  readonly id: number
  readonly code: string
  readonly name: string
  readonly decimals: number
}

/** Empty while they are loading, if they can't be loaded, and for whoever may not read them. */
export function useCurrencies(): {
  readonly list: readonly Currency[]
  readonly base: Currency | undefined
  readonly isLoading: boolean
  readonly isError: boolean
} {
  const { data, isLoading, isError } = useQuery({ ...currenciesQuery, enabled: mayRead('currency') })
  const { data: me } = useQuery(meQuery)
  return useMemo(() => {
    const base = me?.account.base_currency
    const rank = (one: { id: number; rate?: unknown }) => (one.id === base ? 0 : one.rate ? 1 : 2)
    const list = (data ?? [])
      .filter(one => one.is_active !== 2)
      .sort((one, other) => rank(one) - rank(other) || one.code.localeCompare(other.code))
      .map(({ id, code, name, decimals }) => ({ id, code, name, decimals: Number(decimals ?? 2) }))
    return { list, base: list.find(({ id }) => id === base), isLoading, isError }
  }, [data, me, isLoading, isError])
}

/** The base currency, if the currencies are loaded and it is in use. */
export function loadedBase(): { readonly id: number; readonly code: string } | undefined {
  const base = queryClient.getQueryData(meQuery.queryKey)?.account.base_currency
  const known = queryClient.getQueryData(currenciesQuery.queryKey)
  return known?.find(({ id, is_active }) => id === base && is_active !== 2)
}

/** Loads the currencies, by which amounts are parsed and validated; without them, signs are unknown. */
export async function ensureCurrencies(): Promise<void> {
  if (mayRead('currency')) await queryClient.ensureQueryData(currenciesQuery).catch(() => {})
}

/**
 * The code of the one currency of a code or a sign, such as € or US$, for a reader; undefined if it means
 * none or several. The account's active currencies come first: its own, and those with a rate.
 */
export function codeOf(text: string, locale?: string): string | undefined {
  const all = (queryClient.getQueryData(currenciesQuery.queryKey) ?? []).filter(one => one.is_active !== 2)
  const code = text.toUpperCase()
  if (all.some(one => one.code === code)) return code
  const meant = all.filter(one => signsOf(one.code, locale).includes(bare(text)))
  const base = queryClient.getQueryData(meQuery.queryKey)?.account.base_currency
  const used = meant.filter(({ id, rate }) => id === base || rate)
  const [only, ...others] = used.length ? used : meant
  return others.length ? undefined : only?.code
}

function signsOf(currency: string, locale?: string): readonly string[] {
  return (['symbol', 'narrowSymbol'] as const).map(currencyDisplay => {
    const parts = new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      currencyDisplay,
    }).formatToParts(0)
    return bare(parts.find(({ type }) => type === 'currency')?.value ?? '')
  })
}

/** Some end with a point, or contain a blank. */
const bare = (sign: string) => sign.replace(/[.\s\u00a0\u202f]/g, '')

/** Number of a currency's decimals, if the currencies are loaded; by its id or code. */
export function decimalsOf(currency: number | string | null | undefined): number | undefined {
  const known = queryClient.getQueryData(currenciesQuery.queryKey)
  const found = known?.find(({ id, code }) => id === currency || code === currency)
  return found ? Number(found.decimals) : undefined
}
