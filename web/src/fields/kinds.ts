/** The table of kinds: a type of the service without a line here does not compile. */
import type { Field, FieldType } from '../api/api.ts'
import { address } from './address.tsx'
import { columnList } from './column-list.tsx'
import { contactsOnboard } from './contacts-onboard.tsx'
import { date } from './date.tsx'
import { dateRange } from './date-range.tsx'
import { dateTime } from './date-time.tsx'
import { dateTimeRange } from './date-time-range.tsx'
import { dealValue } from './deal-value.tsx'
import { dropdown } from './dropdown.tsx'
import { email } from './email.tsx'
import { json } from './json.tsx'
import type { Kind } from './kind.ts'
import { longText } from './long-text.tsx'
import { money } from './money.tsx'
import { multiselect } from './multiselect.tsx'
import { number } from './number.tsx'
import { onboard } from './onboard.tsx'
import { owner } from './owner.tsx'
import { phone } from './phone.tsx'
import { prices } from './prices.tsx'
import { reference } from './reference.tsx'
import { references } from './references.tsx'
import { stringList } from './string-list.tsx'
import { text } from './text.tsx'
import { time } from './time.tsx'
import { timeRange } from './time-range.tsx'
import { unknown } from './unknown.tsx'

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

/** A value as the reader writes it. */
export const sayValue: Kind['text'] = (value, names, format, field) => {
  const kind = kindOf(field)
  return (kind.say ?? kind.text)(value, names, format, field)
}
