/** The sample's products and deals as request bodies of an API client, and its exchange rates. Pure. */
import type { Catalog } from '../../fields/catalog.ts'
import type { Json, JsonObject } from '../../json.ts'
import type { SampleLife } from './histories.ts'
import names from './names.json' with { type: 'json' }
import type { SampleIds } from './sample.ts'

export type Random = () => number

const [dealCount, historyDays] = [300, 270]
export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** The moment of creation of an account with the sample: before the oldest deal. */
export function sampleBegins(now: Date): Date {
  return new Date(now.getTime() - (historyDays + 1) * dayMs)
}

/** Thirty products with prices in one to six currencies. */
export function sampleProducts(random: Random, now: Date, ids: SampleIds): JsonObject[] {
  return names.products.map(({ name, code, category, type, usd }, index) => ({
    name,
    product_code: code,
    category,
    type,
    active: index % 11 === 10 ? 'No' : 'Yes',
    taxable: index % 3 === 0 ? 'No' : 'Yes',
    unit_price: [
      { currency: 'USD', unit_price: usd.toFixed(2), tax: '8.5', discount: index % 4 === 0 ? '5' : '0' },
      ...rates
        .slice(0, index % 6)
        .map(([currency, rate]) => ({ currency, unit_price: converted(usd, currency, rate), tax: '19' })),
    ],
    quantity_in_stock: Math.floor(random() * 500),
    quantity_ordered: Math.floor(random() * 50),
    sku_number: `SKU${10_000 + index}`,
    description: `${name}, sold as ${type.toLowerCase()}`,
    ...(index % 5 === 0 ? { valid_till: new Date(now.getTime() + 200 * dayMs).toISOString() } : {}),
    ...(index % 3 === 0 ? customValues(random, now, index, ids) : {}),
  }))
}

/** Three hundred deals over all stages, created in the last nine months, oldest first. */
export function sampleDeals(
  random: Random,
  now: Date,
  ids: SampleIds,
  products: readonly number[],
  catalog: Catalog,
): SampleLife[] {
  const stages = [...catalog.stages.values()]
  const deals = Array.from({ length: dealCount }, (_, index) => {
    const daysAgo = Math.round(historyDays * (1 - index / dealCount) * (0.8 + random() * 0.2))
    const createdAt = new Date(now.getTime() - daysAgo * dayMs - hourMs - Math.floor(random() * 9 * hourMs))
    const stage = stages[Math.floor(random() * stages.length)]!
    const which = Math.floor(random() * ids.companies.length)
    const before = {
      title: `${names.companies[which]!} – ${pick(random, names.deal_subjects)}`,
      pipeline: stage.pipeline,
      pipeline_stage: stage.id,
      primary_contact: ids.contacts[2 * which]!,
      ...(random() < 0.4 ? { related_contacts: [ids.contacts[2 * which + 1]!] } : {}),
      company: ids.companies[which]!,
      sales_owner: pick(random, ids.owners),
      ...money(random, index, products),
      source: pick(random, ['Web', 'Organic Search', 'Email', 'Phone', 'Referral', 'Events', 'Webinar']),
      type: pick(random, ['New Business', 'Existing Business - Renewal', 'Existing Business - Upgrade']),
      territory: pick(random, ids.territories),
      tags: ids.tags.filter(() => random() < 0.2),
      ...(random() < 0.5 ? { payment_status: random() < 0.7 ? 'Online' : 'Offline' } : {}),
      ...forecast(random, now, stage.probability, stage.kind),
    }
    const closedAt = stage.kind === 'open' ? null : closingMoment(random, createdAt, now)
    const body = {
      ...before,
      ...(closedAt ? closing(random, closedAt, stage.kind) : {}),
      ...(index % 4 === 0 ? customValues(random, now, index, ids) : {}),
    }
    return { body, createdAt, closedAt }
  })
  return deals.toSorted((one, other) => one.createdAt.getTime() - other.createdAt.getTime())
}

/**
 * An amount in one of six currencies; for every fifth deal instead line items, priced in dollars, in which
 * every product has a price.
 */
function money(random: Random, index: number, products: readonly number[]): JsonObject {
  const currency = pick(random, ['USD', 'USD', 'USD', 'EUR', 'EUR', 'GBP', 'JPY', 'INR', 'KWD'])
  const amount = Math.round(1500 * Math.exp(random() * 4.2))
  if (index % 5 === 0) {
    const lines = [index, index + 7, index + 12].slice(0, 1 + ((index / 5) % 3)).map((which, place) => ({
      product: products[which % products.length]!,
      quantity: 1 + ((index + 3 * place) % 8),
      ...(place === 1 ? { discount: '10' } : {}),
    }))
    return { deal_value: { currency: 'USD', products: lines } }
  }
  const rate = Number(rates.find(([code]) => code === currency)?.[1] ?? 1)
  return { deal_value: { currency, value: Math.max(1, Math.round(amount / rate / 50) * 50) } }
}

function forecast(random: Random, now: Date, probability: number, kind: string): JsonObject {
  if (kind !== 'open' || random() < 0.3) return {}
  const expected = new Date(now.getTime() + Math.round((random() * 150 - 15) * dayMs))
  return {
    expected_close_date: date(expected),
    forecast_category: probability >= 70 ? 'Commit' : probability >= 50 ? 'Best case' : 'Pipeline',
  }
}

/** Within two months, and before the last day, in which activities have their times. */
function closingMoment(random: Random, createdAt: Date, now: Date): Date {
  return new Date(Math.min(createdAt.getTime() + random() * 60 * dayMs, now.getTime() - dayMs))
}

function closing(random: Random, closedAt: Date, kind: string): JsonObject {
  const reason: JsonObject =
    kind === 'won'
      ? { won_reason: pick(random, ['Product feature', 'Price', 'Timing', 'Others']) }
      : {
          lost_reason: pick(random, [
            'Opted our rival',
            'Price is too high',
            'Not interested',
            'No Requirement',
            'Need only in future',
          ]),
        }
  return { ...reason, deal_closed_on: date(closedAt) }
}

/** A value for each of the seventeen custom fields. */
function customValues(random: Random, now: Date, index: number, ids: SampleIds): JsonObject {
  const day = (offset: number) => date(new Date(now.getTime() + ((index % 50) + offset) * dayMs))
  return {
    cf_custom_text_field: `Reference ${1000 + index}`,
    cf_custom_large_txt_field: `What was agreed under reference ${1000 + index}: delivery in two parts, training on site.`,
    cf_custom_number_field: Math.floor(random() * 1000),
    cf_custom_dropdown_field: pick(random, ['Bronze', 'Silver', 'Gold', 'Platinum']),
    cf_custom_multiselect_field: random() < 0.5 ? ['Training', 'Support'] : ['Installation'],
    cf_custom_address_field: {
      address_line1: `${1 + (index % 90)} Market Street`,
      city: pick(random, names.cities),
      zipcode: `0${4000 + index}`,
    },
    cf_custom_owner_field: pick(random, ids.owners),
    cf_custom_company_field: pick(random, ids.companies),
    cf_custom_contact_field: pick(random, ids.contacts),
    cf_custom_monetory_field: { currency: 'USD', value: Math.floor(random() * 5000) },
    cf_custom_phone_field: [
      { phone_type: 'mobile', phone_number: `+1 555 01${String(index % 100).padStart(2, '0')}` },
    ],
    cf_custom_email_field: [{ email_type: 'work', email_value: `project${index}@example.com` }],
    cf_custom_time_field: pick(random, ['08:15', '09:30', '14:00']),
    cf_custom_date_field: day(0),
    cf_custom_time_range_field: `09:00/${index % 8 ? '17:30' : '02:00'}`,
    cf_custom_date_range_field: { range: { from: day(7), to: day(21) } },
    cf_custom_date_time_range_field: {
      range: { from: `${day(3)}T09:00:00+01:00`, to: `${day(3)}T16:30:00+01:00` },
    },
  }
}

function converted(usd: number, currency: string, rate: string): string {
  return (usd / Number(rate)).toFixed(currency === 'JPY' ? 0 : 2)
}

export function date(at: Date): string {
  return at.toISOString().slice(0, 10)
}

export function pick<T extends Json>(random: Random, choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)]!
}

/** Value of one unit in US dollars. */
export const rates: readonly (readonly [code: string, rate: string])[] = Object.entries(names.rates)

/**
 * Value of one unit of other currencies in US dollars: the sample doesn't use them, but one may be the base
 * currency.
 */
const otherRates: { readonly [code: string]: number } = names.other_rates

/**
 * The sample's exchange rates in a base currency, to six digits. Empty if the base's rate is unknown: no rate
 * is ever assumed.
 */
export function ratesIn(base: string): (readonly [code: string, rate: number])[] {
  const all = { ...otherRates, ...Object.fromEntries(rates.map(([code, rate]) => [code, Number(rate)])) }
  const unit = all[base]
  if (!unit) return []
  const others = ['USD', ...rates.map(([code]) => code)].filter(code => code !== base)
  return others.map(code => [code, Number((all[code]! / unit).toPrecision(6))])
}
