/**
 * Additions to sums over deals, besides their fields (D85): the product lines as parts of a deal, and amounts
 * in the base currency; those of a closed deal by the rate of its closing. Pure.
 */
import type { ResourceSchema } from '../../fields/catalog.ts'
import { plainField } from '../../fields/field.ts'
import type { Sums } from '../../lists/aggregate-query.ts'
import { type Sql, sql } from '../../sql.ts'
import { statusOf } from './deal.ts'

export const dealSums: Sums = {
  parts: (schema, catalog) => {
    const value = schema.byName.get('deal_value')!
    const name = value.lines_of!
    if (value.is_hidden || !value.is_active) return null
    const related_name = catalog.resources.get(name)!.resource.shownAs
    // A reference like that of a field, to the product of a line.
    const field = { ...value, ...plainField, internal_name: name, related: name, related_name }
    const currency = sql`r.deal_value_currency`
    const inBase = isBaseSeen(schema) ? (rate: Sql) => sql`line.amount * ${rateOf(currency, rate)}` : null
    return {
      key: { text: name, field, sql: sql`line.product`, isNamed: true },
      join: sql`
        CROSS JOIN LATERAL jsonb_to_recordset(r.deal_value_products)
          AS line (product bigint, quantity numeric, amount numeric)`,
      measured: {
        quantity: { amount: sql`line.quantity`, currency: null, inBase: null },
        revenue: { amount: sql`line.amount`, currency, inBase },
      },
    }
  },
  inBase: ({ internal_name: name, in_base }, schema, { amount, currency }) => {
    if (in_base || !isBaseSeen(schema)) return in_base ? undefined : null
    if (name === 'weighted_value')
      return () => sql`r.deal_value_in_base_currency_value * r.stage_probability * 0.01`
    return rate => sql`${amount} * ${rateOf(currency, rate)}`
  },
}

function isBaseSeen({ byName }: ResourceSchema): boolean {
  return !byName.get('deal_value_in_base_currency')!.is_hidden
}

/** The rate of an amount of the deal: a closed deal keeps the rate of its stored base amount. */
function rateOf(currency: Sql, rate: Sql): Sql {
  return sql`CASE WHEN r.status <> ${sql.integer(statusOf.open)} AND r.deal_value_value <> 0
    AND r.deal_value_currency = ${currency} THEN r.deal_value_in_base_currency_value / r.deal_value_value
    ELSE ${rate} END`
}
