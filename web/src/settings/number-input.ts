/** Reads numbers while they are typed. Pure. */
import { readDecimal } from '../fields/decimal.ts'

/**
 * The typed text in the form to send: null for nothing, a number if it is one, else the unchanged text, so
 * that the service reports its problem.
 */
export function numberIn(text: string, locale?: string): number | string | null {
  const typed = text.trim()
  if (typed === '') return null
  // 1,605 is above a thousand for some readers, and below two for others.
  const number = Number(readDecimal(typed, locale) ?? typed.replace(',', '.'))
  return Number.isFinite(number) ? number : typed
}
