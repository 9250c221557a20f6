/** A catalog with pipelines, options and currencies, for tests of imports that need no database. */
import { buildCatalog, type CatalogRows } from '../../src/fields/catalog.ts'
import { resources } from '../../src/resources/resources.ts'

type FieldType = 'MULTISELECT' | 'SINGLE_NUMBER' | 'TIME' | 'TIME_RANGE' | 'DATE_RANGE' | 'DATE_TIME_RANGE'

const option = (resource: string, field: string, names: readonly string[], from: number) =>
  names.map((name, index) => ({
    ...{ id: from + index, resource, field, name, position: index + 1 },
    ...{ is_active: true, is_default: false },
  }))

const currency = (id: number, code: string, symbol: string, rate: string | null = '1') => ({
  ...{ id, code, name: `${code} currency`, symbol, decimals: 2, rate, is_active: true },
})

const stage = (id: number, name: string, kind: 'open' | 'won' | 'lost') => ({
  ...{ id, pipeline: 1, name, position: id, kind, probability: 50, rotting_days: null },
})

const custom = (id: number, name: string, type: FieldType) => ({
  ...{ id, resource: 'deal', internal_name: `cf_${name}`, field_name: name, type, config: {} },
  ...{ default_value: null, is_required: false, is_active: true, is_indexed: false, is_unique: false },
  ...{ deleted_at: null, version: 1 },
})

const rows: CatalogRows = {
  account: {
    id: 1,
    name: 'Account',
    time_zone: 'Europe/Berlin',
    locale: null,
    base_currency: 978,
    catalog_version: '1',
  },
  followed_at: '2026-01-01T00:00:00Z',
  fields: [
    custom(2000, 'colors', 'MULTISELECT'),
    custom(2001, 'seats', 'SINGLE_NUMBER'),
    custom(2002, 'call_at', 'TIME'),
    ...[custom(2003, 'shift', 'TIME_RANGE'), custom(2004, 'span', 'DATE_RANGE')],
    custom(2005, 'slot', 'DATE_TIME_RANGE'),
  ],
  options: [
    ...option('deal', 'source', ['Web', 'Phone', 'Trade fair'], 10),
    ...option('deal', 'lost_reason', ['Price', 'Timing'], 20),
    ...option('deal', 'won_reason', ['Quality'], 30),
    ...option('deal', 'cf_colors', ['Red', 'Blue; light', 'Green'], 40),
    ...option('product', 'category', ['Hardware', 'Software'], 50),
  ],
  forms: [],
  currencies: [
    ...[currency(978, 'EUR', '€'), currency(840, 'USD', '$'), currency(826, 'GBP', '£')],
    ...[currency(156, 'CNY', '¥', null), currency(392, 'JPY', '¥'), currency(558, 'NIO', 'C$', null)],
    ...[currency(208, 'DKK', 'kr'), currency(752, 'SEK', 'kr')],
  ],
  pipelines: [{ id: 1, name: 'Sales', position: 1, is_default: true }],
  stages: [
    stage(1, 'Qualified', 'open'),
    stage(2, 'Proposal', 'open'),
    stage(3, 'Won', 'won'),
    stage(4, 'Lost', 'lost'),
  ],
  roles: [],
}

export const catalog = buildCatalog(resources, rows)
