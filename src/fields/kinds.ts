/** The table of field kinds: one line a type. The only place that maps a type to its behaviour. */
import type { Kind } from './field.ts'
import { address } from './kinds/address.ts'
import { columnList } from './kinds/column-list.ts'
import { email, phone } from './kinds/contact-points.ts'
import { date } from './kinds/date.ts'
import { dateTime } from './kinds/date-time.ts'
import { dropdown } from './kinds/dropdown.ts'
import { json } from './kinds/json.ts'
import { money } from './kinds/money.ts'
import { multiselect } from './kinds/multiselect.ts'
import { number } from './kinds/number.ts'
import { prices } from './kinds/prices.ts'
import { dateRange, dateTimeRange } from './kinds/ranges.ts'
import { reference } from './kinds/reference.ts'
import { references } from './kinds/references.ts'
import { stringList } from './kinds/string-list.ts'
import { text } from './kinds/text.ts'
import { time } from './kinds/time.ts'
import { timeRange } from './kinds/time-range.ts'

/**
 * One line a type. A type that custom fields may have (D35, D36) states the interface's limits, which an
 * account may tighten.
 */
const table = {
  SINGLE_STRING: { ...text, custom: { max_length: 255 } },
  TEXT: { ...text, custom: { max_length: 32_000 } },
  SINGLE_NUMBER: { ...number, custom: { max_digits: 16 } },
  PRODUCT: number,
  DROPDOWN: { ...dropdown, custom: {} },
  MULTISELECT: { ...multiselect, custom: { max_limit: 100 } },
  ADDRESS: { ...address, custom: {} },
  OWNER: { ...reference, custom: {} },
  TERRITORY: reference,
  DEAL: reference,
  COMPANY: { ...reference, custom: {} },
  CONTACT: { ...reference, custom: {} },
  CONTACT_ONBOARD: reference,
  COMPANY_ONBOARD: reference,
  CONTACTS_ONBOARD: references,
  TAGS: references,
  TERRITORIES: references,
  STRING_LIST: stringList,
  COLUMN_LIST: columnList,
  DEAL_VALUE: money,
  MONETARY: { ...money, custom: { min: 0 } },
  PRICE_TAGS: prices,
  PHONE: { ...phone, custom: { max_limit: 20 } },
  EMAIL: { ...email, custom: { max_limit: 20 } },
  TIME: { ...time, custom: {} },
  DATE: { ...date, custom: {} },
  DATE_TIME: dateTime,
  TIME_RANGE: { ...timeRange, custom: {} },
  DATE_RANGE: { ...dateRange, custom: {} },
  DATE_TIME_RANGE: { ...dateTimeRange, custom: {} },
  JSON: json,
} satisfies { readonly [type: string]: Kind }

/** The interface's field types, and the additions of D18, D35, D61, D62, D73 and D130. */
export type FieldType = keyof typeof table

export const kinds: { readonly [type in FieldType]: Kind } = table

/** The types that a custom field may have. */
export const customTypes = (Object.keys(table) as FieldType[]).filter(type => kinds[type].custom)

/** Maximum number of active options of a dropdown or multiselect. */
export const optionsMax = 100
