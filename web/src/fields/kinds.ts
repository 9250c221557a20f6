/** The table of kinds: a type of the service without a line here does not compile. */
import type { Field, FieldType } from '../api/api.ts'
import type { Kind } from './kind.ts'
import { address } from './kinds/address.tsx'
import { columnList } from './kinds/column-list.tsx'
import { contactsOnboard } from './kinds/contacts-onboard.tsx'
import { date } from './kinds/date.tsx'
import { dateRange } from './kinds/date-range.tsx'
import { dateTime } from './kinds/date-time.tsx'
import { dateTimeRange } from './kinds/date-time-range.tsx'
import { dealValue } from './kinds/deal-value.tsx'
import { dropdown } from './kinds/dropdown.tsx'
import { email } from './kinds/email.tsx'
import { json } from './kinds/json.tsx'
import { longText } from './kinds/long-text.tsx'
import { money } from './kinds/money.tsx'
import { multiselect } from './kinds/multiselect.tsx'
import { number } from './kinds/number.tsx'
import { onboard } from './kinds/onboard.tsx'
import { owner } from './kinds/owner.tsx'
import { phone } from './kinds/phone.tsx'
import { prices } from './kinds/prices.tsx'
import { reference } from './kinds/reference.tsx'
import { references } from './kinds/references.tsx'
import { stringList } from './kinds/string-list.tsx'
import { text } from './kinds/text.tsx'
import { time } from './kinds/time.tsx'
import { timeRange } from './kinds/time-range.tsx'
import { unknown } from './kinds/unknown.tsx'

export const kinds = {
  SINGLE_STRING: text,
  TEXT: longText,
  SINGLE_NUMBER: number,
  PRODUCT: number,
  DROPDOWN: dropdown,
  MULTISELECT: multiselect,
  ADDRESS: address,
  OWNER: owner,
  TERRITORY: reference,
  DEAL: reference,
  COMPANY: reference,
  CONTACT: reference,
  CONTACT_ONBOARD: onboard,
  COMPANY_ONBOARD: onboard,
  CONTACTS_ONBOARD: contactsOnboard,
  TAGS: references,
  TERRITORIES: references,
  STRING_LIST: stringList,
  COLUMN_LIST: columnList,
  DEAL_VALUE: dealValue,
  MONETARY: money,
  PRICE_TAGS: prices,
  PHONE: phone,
  EMAIL: email,
  TIME: time,
  DATE: date,
  DATE_TIME: dateTime,
  TIME_RANGE: timeRange,
  DATE_RANGE: dateRange,
  DATE_TIME_RANGE: dateTimeRange,
  JSON: json,
  // biome-ignore lint/suspicious/noExplicitAny: each kind knows its own values
} satisfies Record<FieldType, Kind<any>>

export function kindOf({ type }: Pick<Field, 'type'>): Kind {
  return ((kinds as { readonly [type: string]: unknown })[type] as Kind | undefined) ?? unknown
}

/** A value in the reader's notation. */
export const displayValue: Kind['text'] = (value, names, format, field) => {
  const kind = kindOf(field)
  return (kind.display ?? kind.text)(value, names, format, field)
}
