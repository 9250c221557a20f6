/** The table of field kinds: one line a type. The only place that maps a type to its behaviour. */
import type { Config, FieldType, Kind } from './field.ts'
import { address } from './kinds/address.ts'
import { email, phone } from './kinds/contact-points.ts'
import { date } from './kinds/date.ts'
import { dateTime } from './kinds/date-time.ts'
import { dropdown } from './kinds/dropdown.ts'
import { json } from './kinds/json.ts'
import { money } from './kinds/money.ts'
import { multiselect } from './kinds/multiselect.ts'
import { number } from './kinds/number.ts'
import { prices } from './kinds/prices.ts'
import { dateRange, dateTimeRange, timeRange } from './kinds/ranges.ts'
import { reference } from './kinds/reference.ts'
import { references } from './kinds/references.ts'
import { text } from './kinds/text.ts'
import { time } from './kinds/time.ts'

export const kinds: { readonly [type in FieldType]: Kind } = {
  SINGLE_STRING: text,
  TEXT: text,
  SINGLE_NUMBER: number,
  PRODUCT: number,
  DROPDOWN: dropdown,
  MULTISELECT: multiselect,
  OWNER: reference,
  TERRITORY: reference,
  COMPANY: reference,
  CONTACT: reference,
  CONTACT_ONBOARD: reference,
  COMPANY_ONBOARD: reference,
  CONTACTS_ONBOARD: references,
  TAGS: references,
  DEAL_VALUE: money,
  MONETARY: money,
  PRICE_TAGS: prices,
  DATE: date,
  DATE_TIME: dateTime,
  TIME: time,
  TIME_RANGE: timeRange,
  DATE_RANGE: dateRange,
  DATE_TIME_RANGE: dateTimeRange,
  ADDRESS: address,
  PHONE: phone,
  EMAIL: email,
  JSON: json,
}

/**
 * The types that a custom field may have (D35, D36), with the limits of the interface. An account may tighten
 * the limits.
 */
export const customFields: { readonly [type in FieldType]?: Config } = {
  SINGLE_STRING: { max_length: 255 },
  TEXT: { max_length: 32_000 },
  SINGLE_NUMBER: { max_digits: 16 },
  DROPDOWN: {},
  MULTISELECT: { max_limit: 100 },
  ADDRESS: {},
  OWNER: {},
  COMPANY: {},
  CONTACT: {},
  MONETARY: { min: 0 },
  PHONE: { max_limit: 20 },
  EMAIL: { max_limit: 20 },
  TIME: {},
  DATE: {},
  TIME_RANGE: {},
  DATE_RANGE: {},
  DATE_TIME_RANGE: {},
}

/** How many options in use a dropdown or multiselect may have. */
export const optionsMax = 100

/** The resource that a custom field of the type points to. */
export const relatedResource: { readonly [type in FieldType]?: string } = {
  OWNER: 'user',
  COMPANY: 'company',
  CONTACT: 'contact',
}
