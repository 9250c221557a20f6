/** Cells with people's data: names, e-mails and telephone numbers, one or several (D80). */
import { itemsOf, markedItemsOf } from '../../files/texts.ts'
import type { JsonObject } from '../../json.ts'
import type { Place } from './targets.ts'

/** Maximum length of an address with a name before it. */
const addressMax = 600

/** The addresses of a cell, separated by semicolons, commas or colons, with or without names before them. */
export function emailsOf(text: string, { member }: Place): JsonObject[] {
  return itemsOf(text, /[;,\r\n]/).map(item => ({
    email_type: member ?? 'work',
    email_value: bareEmail(item),
  }))
}

/**
 * The phone numbers of a cell. A comma or a slash is a separator if each part is long enough; in quotation
 * marks it is part of the number, as in our exports (D81).
 */
export function phonesOf(text: string, { member }: Place): JsonObject[] {
  return markedItemsOf(text)
    .flatMap(({ item, isMarked }) => {
      if (isMarked) return [item]
      const parts = item.split(/,|\s\/\s/).map(part => part.trim())
      return parts.every(part => part.replace(/\D/g, '').length >= digitsMin) ? parts : [item]
    })
    .map(item => ({ phone_type: member ?? 'work', phone_number: item.replace(/^tel:/i, '') }))
}

const digitsMin = 5

/** "Jo <jo@example.com>" → jo@example.com */
function bareEmail(text: string): string {
  if (text.length > addressMax) return text
  const address = /<([^<>@]+@[^<>@]+)>$/.exec(text)?.[1] ?? text
  return address.trim().replace(/^mailto:/i, '')
}

/**
 * Splits a name into first and last name. The last name is the last word, the words from the first lowercase
 * one on (van der Berg), or the part before a comma.
 */
export function splitName(text: string, { of, member }: Place): JsonObject {
  const name = text.trim().replace(/\s+/g, ' ')
  const [before, ...behind] = name.split(/,\s*/)
  const words = name.split(' ')
  const small = words.findIndex(
    (word, index) => index > 0 && index < words.length - 1 && /^\p{Ll}/u.test(word),
  )
  const at = small > 0 ? small : words.length - 1
  const isTurned = behind.length === 1 && behind[0] !== ''
  const first = isTurned ? behind[0]! : words.slice(0, at).join(' ')
  const last = isTurned ? before! : words.slice(at).join(' ')
  return { ...(first ? { [member!]: first } : {}), [of.internal_name]: last }
}
