/** Texts as Unicode code points (D15): their length, and those that can be stored. */

/** The number of Unicode code points in a well-formed text. Allocates nothing, however long the text is. */
export function codePoints(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--
  return count
}

/** True if PostgreSQL can store a text: it has no NUL and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
