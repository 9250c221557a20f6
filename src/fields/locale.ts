/** Time zones and languages supported by the runtime (IANA, BCP 47), and the problems of others. */
import type { ProblemCode } from '../errors.ts'

type AddProblem = (field: string, code: ProblemCode, message: string, more: { readonly hint: string }) => void

export function rejectTimeZone(problem: AddProblem): void {
  const hint = 'For example "Europe/Paris".'
  problem('time_zone', 'unknown_time_zone', 'must be a time zone of the IANA list', { hint })
}

/** `more`: what is accepted, too. */
export function rejectLocale(problem: AddProblem, more = ''): void {
  const hint = 'For example "de-CH".'
  problem('locale', 'unknown_locale', `must be a language tag (BCP 47)${more}`, { hint })
}

export function isTimeZone(name: string): boolean {
  // An offset such as +01:00 is no time zone, though some runtimes accept it.
  return /^[A-Za-z]/.test(name) && isKnown(() => new Intl.DateTimeFormat('en', { timeZone: name }))
}

export function isLocale(tag: string): boolean {
  return isKnown(() => Intl.getCanonicalLocales(tag))
}

function isKnown(make: () => unknown): boolean {
  try {
    make()
    return true
  } catch {
    return false
  }
}
