/**
 * The settings of an account (D141): its name, time zone, locale, and base currency. A change is a new
 * version of its configuration, which every process sees within a second. Knows no HTTP.
 */
import { type Hint, type ProblemCode, Problems, Refusal } from '../errors.ts'
import { asDefined } from '../fields/as-defined.ts'
import { isBlank } from '../fields/blank.ts'
import type { Account, Catalog, Currency } from '../fields/catalog.ts'
import { decimal, decimalJson, rounded } from '../fields/decimal.ts'
import { inCapitals } from '../fields/in-capitals.ts'
import { isLocale, isTimeZone, rejectLocale, rejectTimeZone } from '../fields/locale.ts'
import { suggestion } from '../fields/nearest.ts'
import { asText, isSameJson, type Json, type JsonObject } from '../json.ts'
import type { Transaction } from '../records/store.ts'
import { workOn } from '../records/work.ts'
import { execute } from '../records/write/execute.ts'
import type { WriteContext } from '../records/write/operation.ts'
import { lockAccount, writeParamsOf } from '../records/write/protocol.ts'
import { updateRecord } from '../records/write/save.ts'
import { resources } from '../resources/resources.ts'
import { ask, param, sql } from '../sql.ts'
import { loadCatalog } from './callers.ts'

export const settingNames = ['name', 'time_zone', 'locale', 'base_currency'] as const

/** Longer than any name of a time zone or locale. */
const longest = 100

/** The account settings in the API's form; `base_currency` is the currency's id (D44). */
export type Settings = Account & { readonly base_currency_code: string }

/** Numbers of values that a change of the base currency recalculates. */
export type RecalculationCounts = {
  /** rates of other currencies, converted at once */
  readonly rates: number
  /** live records with an amount in the base currency, recalculated in the background */
  readonly open_deals: number
  readonly closed_deals: number
  readonly products: number
}

export type SettingsChange = {
  readonly settings: Settings
  /** null: the base currency is unchanged */
  readonly recalculated: RecalculationCounts | null
}

export function settingsOf({ account, currencies }: Catalog): Settings {
  const { id, name, time_zone, locale, base_currency } = account
  const base_currency_code = currencies.get(base_currency)!.code
  return { id, name, time_zone, locale, base_currency, base_currency_code }
}

/**
 * Changes the settings in `body`, within the transaction `tx`. Throws `validation_failed` with all problems.
 * A new base currency converts all rates by its own rate; the amounts of open deals and of products follow as
 * after a change of a rate (D24), and those of closed deals keep the rate of their closing.
 */
export async function changeSettings(
  tx: Transaction,
  { catalog: { account }, ...by }: WriteContext,
  body: JsonObject,
): Promise<SettingsChange> {
  const own = param(String(account.id))
  await ask(tx, lockAccount(own))
  const before = await loadCatalog(tx, resources, account.id)
  const wanted = await validated(tx, before, body)
  const current = settingsOf(before)
  if (isSameJson(wanted, current)) return { settings: current, recalculated: null }
  await save(tx, { ...by, catalog: before }, current, wanted)
  if (wanted.base_currency === current.base_currency) return { settings: wanted, recalculated: null }
  const rates = await convertRates(tx, by, account.id, wanted.base_currency)
  return { settings: wanted, recalculated: { rates, ...(await countAmounts(tx, account.id)) } }
}

/** The current settings with those of `body` merged in. Throws `validation_failed` with all problems. */
async function validated(tx: Transaction, catalog: Catalog, body: JsonObject): Promise<Settings> {
  const problems = new Problems()
  const wanted: { -readonly [K in keyof Settings]: Settings[K] } = settingsOf(catalog)
  const problem = (
    field: string,
    code: ProblemCode,
    predicate: string,
    more: { readonly hint?: Hint } = {},
  ) => problems.add(() => ({ field, path: `/${field}`, code, message: `${field} ${predicate}.` }), more.hint)
  const { name, time_zone, locale, base_currency } = body
  if (name !== undefined) {
    const valid = typeof name === 'string' ? accountName(name) : null
    if (valid === null) problem('name', 'invalid_value', 'must have 1 to 255 characters, on one line')
    else wanted.name = valid
  }
  if (time_zone !== undefined) {
    const known = typeof time_zone === 'string' ? await timeZone(tx, time_zone) : null
    if (known) wanted.time_zone = known
    else rejectTimeZone(problem)
  }
  if (locale !== undefined) {
    if (locale !== null && !(typeof locale === 'string' && locale.length <= longest && isLocale(locale)))
      rejectLocale(problem, ', or null')
    else wanted.locale = locale
  }
  if (base_currency !== undefined) {
    const currency = currencyOf(catalog, base_currency)
    if (currency === null) {
      const codes = [...catalog.currencyByCode.keys()]
      const hint = () => suggestion(asText(base_currency), codes, 'For example "EUR", or its id 978.')
      problem('base_currency', 'unknown_currency', 'must be a currency of ISO 4217', { hint })
    } else if (currency.id !== wanted.base_currency && currency.rate === null) {
      const { code, id } = currency
      const worth = `what one ${code} is worth in ${wanted.base_currency_code}`
      const hint = `First PATCH /currency/${id} {"rate": …} with ${worth}; all rates are converted by it.`
      problem('base_currency', 'no_rate', `is ${code}, which has no rate`, { hint })
    } else {
      wanted.base_currency = currency.id
      wanted.base_currency_code = currency.code
    }
  }
  if (problems.count) throw new Refusal('validation_failed', 'Nothing was changed.', problems)
  return wanted
}

/** The trimmed name of an account; null if it is invalid. */
export function accountName(text: string): string | null {
  const name = text.trim()
  return !isBlank(name) && /^[^\p{Cc}]{1,255}$/u.test(name) ? name : null
}

/** The currency by id or code; null if there is none. */
function currencyOf({ currencies, currencyByCode }: Catalog, sent: Json): Currency | null {
  if (typeof sent === 'number') return currencies.get(sent) ?? null
  return (typeof sent === 'string' && currencyByCode.get(inCapitals(sent.trim()))) || null
}

/** Zones that PostgreSQL takes for abbreviations, which have no summer time → the zones that they mean. */
const unabbreviated: { readonly [name: string]: string } = {
  ...{ CET: 'Europe/Brussels', MET: 'Europe/Brussels', EET: 'Europe/Athens', WET: 'Europe/Lisbon' },
}

/**
 * The name of a time zone in the database's spelling; null if the database or the runtime doesn't know it.
 */
export async function timeZone(db: Pick<Transaction, 'query'>, text: string): Promise<string | null> {
  if (text.length > longest || !isTimeZone(text)) return null
  const meant = unabbreviated[text.toUpperCase()] ?? text
  const found = sql`SELECT name FROM pg_timezone_names WHERE lower(name) = lower(${meant}::text)`
  const [row] = await ask(db, found)
  return row?.name ?? null
}

/** Saves the settings and appends the event `account.updated`. */
async function save(tx: Transaction, by: WriteContext, current: Settings, wanted: Settings): Promise<void> {
  const writer = writeParamsOf(by)
  const { account } = writer
  const changes = settingNames
    .filter(name => current[name] !== wanted[name])
    .map(name => [name, { before: current[name], after: wanted[name] }])
  const change = sql`
  UPDATE account SET name = ${wanted.name}::text, time_zone = ${wanted.time_zone}::text,
    locale = ${wanted.locale}::text, base_currency = ${String(wanted.base_currency)}::int,
    catalog_version = catalog_version + 1
  FROM locked WHERE account_id = ${account}::bigint
`
  await execute(tx, writer, {
    steps: [
      {
        name: 'changed',
        change,
        returning: sql`catalog_version`,
        rows: () => sql`SELECT catalog_version FROM account WHERE account_id = ${account}::bigint`,
      },
    ],
    events: [
      {
        type: 'account.updated',
        resource: 'field',
        of: sql`(SELECT 0::bigint AS id, catalog_version::int AS version FROM changed)`,
        changes: sql`${JSON.stringify(Object.fromEntries(changes))}`,
      },
    ],
    answer: sql`SELECT '' AS id FROM changed`,
  })
}

const rateDecimals = 12

/**
 * Divides all rates by that of the new base currency; returns their number. A rate is the value of one unit
 * in the base currency.
 */
async function convertRates(
  tx: Transaction,
  by: Omit<WriteContext, 'catalog'>,
  account: number,
  base: number,
): Promise<number> {
  // The account's required fields of currencies must not prevent a change of the base currency (D120).
  const catalog = asDefined(await loadCatalog(tx, resources, account), 'currency')
  const { rights: _, ...service } = by
  const update = (id: number, body: JsonObject) =>
    updateRecord(workOn(tx, { ...service, idempotency: null, catalog }, 'currency'), id, body)
  const unit = decimal(catalog.currencies.get(base)!.rate)!
  const others = [...catalog.currencies.values()].filter(({ id, rate }) => id !== base && rate !== null)
  await update(base, { rate: 1, is_active: 'Yes' })
  for (const { id, rate } of others) {
    const converted = rounded(decimal(rate)!.div(unit), rateDecimals)
    await update(id, { rate: converted.eq(0) ? null : decimalJson(converted) })
  }
  return others.length
}

async function countAmounts(db: Transaction, account: number): Promise<Omit<RecalculationCounts, 'rates'>> {
  const own = param(String(account))
  const statement = sql`SELECT count(*) FILTER (WHERE status = 1)::text AS open_deals,
        count(*) FILTER (WHERE status <> 1)::text AS closed_deals, (
        SELECT count(*) FROM product
        WHERE account_id = ${own}::bigint AND deleted_at IS NULL AND base_currency_amount_value IS NOT NULL
      )::text AS products
      FROM deal WHERE account_id = ${own}::bigint AND deleted_at IS NULL
        AND deal_value_in_base_currency_value IS NOT NULL`
  const [row] = await ask(db, statement)
  const { open_deals, closed_deals, products } = row!
  return { open_deals: Number(open_deals), closed_deals: Number(closed_deals), products: Number(products) }
}
