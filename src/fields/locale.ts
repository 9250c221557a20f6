/** Time zones and languages supported by the runtime (IANA, BCP 47). */

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
