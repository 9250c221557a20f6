/** Time zones and languages as the runtime knows them (IANA, BCP 47). */

export function isTimeZone(name: string): boolean {
  return isKnown(() => new Intl.DateTimeFormat('en', { timeZone: name }))
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
