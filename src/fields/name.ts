/**
 * A name as it is compared: the one place that says when two names are the same (D10). Knows no field and no resource.
 */

/** A name has at most 255 characters, each at most four code units when it is spelt in its parts. */
const longest = 4 * 255

/**
 * Letters with at most thirty marks each, as in Unicode's Stream-Safe Text Format (UAX #15). Putting marks in order takes the square of
 * their number: without a bound, one text could take minutes.
 */
const letters = /^\P{M}*(?:\p{M}{1,30}(?:\P{M}+|$))*$/u

/**
 * Without blanks around it, composed (NFC), in any case. What no name can be, as it is too long or no text of letters and their
 * marks, is left as it stands.
 */
export function comparedName(text: string): string {
  const name = text.trim()
  return name.length <= longest && letters.test(name) ? name.normalize('NFC').toLowerCase() : name
}

/** Whether two names are one to a reader. */
export function isSameName(one: string, other: string): boolean {
  return comparedName(one) === comparedName(other)
}

/** The words of a name in small letters without marks, of which internal names are made: "Größe (Café)" → grosse, cafe. */
export function plainWords(name: string): string[] {
  // Its own marks go first: what is left decomposes into few.
  const bare = name.replace(marks, '').normalize('NFKD').replace(marks, '')
  return (
    bare
      .toLowerCase()
      .replaceAll('ß', 'ss')
      .match(/[a-z0-9]+/g) ?? []
  )
}

const marks = /\p{M}+/gu
