/** Amounts in the account's base currency, for reports. */
import { useQuery } from '@tanstack/react-query'
import { currenciesQuery } from '../../api/queries.ts'
import { useFormat } from '../../format/use-format.tsx'
import { may, useMe } from '../../shell/me.ts'

export type BaseFormat = ReturnType<typeof useBase>

/** Formats amounts in the base currency, and numbers of deals. */
export function useBase() {
  const me = useMe()
  const { account } = me
  const format = useFormat()
  const { data } = useQuery({ ...currenciesQuery, enabled: may(me, 'currency:read') })
  const currency_code = data?.find(({ id }) => id === account.base_currency)?.code ?? null
  return {
    code: currency_code,
    full: (value: number) => format.money({ value, currency_code }),
    short: (value: number) => format.compactMoney({ value, currency_code }),
    number: format.number,
    deals: (count: number) => format.counted(count, 'deal', 'deals'),
  }
}
