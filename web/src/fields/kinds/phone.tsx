/** PHONE: several of a type each (D13). */
import { entriesKind } from '../entries.tsx'
import { checkLength } from './text.tsx'

const types = ['Work', 'Phone', 'Mobile', 'WhatsApp', 'Telegram', 'Personal', 'Other']

type Sent = { readonly phone_type: number; readonly phone_number: string }

const pattern = /^(?=\D*\d)[-+\d\s()./#*,;a-zA-Z]+$/u

function checkOne(value: string): string | undefined {
  const wrong = checkLength(value, { min_length: 5, max_length: 17 })
  return wrong ?? (pattern.test(value) ? undefined : 'Must be a phone number, such as +1 555 0100.')
}

/** Visual separators are left out (RFC 3966). */
export const phoneHref = (value: string): string =>
  `tel:${encodeURIComponent(value.replace(/[\s()./-]/g, '')).replace(/%2B/g, '+')}`

export const phone = entriesKind<Sent>({
  types,
  noun: 'phone number',
  inputType: 'tel',
  href: phoneHref,
  read: ({ phone_type: type, phone_number: value }) => ({ type, value }),
  write: ({ type, value }) => ({ phone_type: type, phone_number: value }),
  checkOne,
})
