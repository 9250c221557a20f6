/** EMAIL: several of a type each (D13). */
import { entriesKind } from '../entries.tsx'
import { checkLength } from './text.tsx'

const types = ['Work', 'Personal', 'Home', 'Other']

type Sent = { readonly email_type: number; readonly email_value: string }

const pattern = /^(?!\.)(?!.*\.[.@])[^\s@"(),:;<>[\\\]]+@[^\s@.]+(\.[^\s@.]+)+$/u

function checkOne(value: string): string | undefined {
  const wrong = checkLength(value, { min_length: 3, max_length: 320 })
  return (
    wrong ?? (pattern.test(value) ? undefined : 'Must be a valid e-mail address, such as jo@example.com.')
  )
}

export const emailHref = (value: string): string => `mailto:${encodeURIComponent(value).replace('%40', '@')}`

export const email = entriesKind<Sent>({
  types,
  noun: 'e-mail',
  inputType: 'email',
  href: emailHref,
  read: ({ email_type: type, email_value: value }) => ({ type, value }),
  write: ({ type, value }) => ({ email_type: type, email_value: value }),
  checkOne,
})
