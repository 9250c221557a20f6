/** The currencies that an account uses: its base currency first, then those with a rate. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { currenciesQuery, meQuery, queryClient } from '../api/queries.ts'

export type Currency = {
  readonly id: number
  readonly code: string
  readonly name: string
  readonly decimals: number
}

export function useCurrencies(): { readonly list: readonly Currency[]; readonly base: Currency | undefined } {
  const { data } = useQuery(currenciesQuery)
  const { data: me } = useQuery(meQuery)
  return useMemo(() => {
    const base = me?.account.base_currency
    const rank = (one: { id: number; rate?: unknown }) => (one.id === base ? 0 : one.rate ? 1 : 2)
    const list = (data ?? [])
      .filter(one => one.is_active !== 2)
      .sort((one, other) => rank(one) - rank(other) || one.code.localeCompare(other.code))
      .map(({ id, code, name, decimals }) => ({ id, code, name, decimals: Number(decimals ?? 2) }))
    return { list, base: list.find(({ id }) => id === base) }
  }, [data, me])
}

/** How many decimals a currency has, where the currencies were read before; by its id or code. */
export function decimalsOf(currency: number | string | null | undefined): number | undefined {
  const known = queryClient.getQueryData(currenciesQuery.queryKey)
  const found = known?.find(({ id, code }) => id === currency || code === currency)
  return found ? Number(found.decimals) : undefined
}
