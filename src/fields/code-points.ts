/** The length of a text in Unicode code points (D15). */

/** The number of Unicode code points in a well-formed text. Allocates nothing, however long the text is. */
export function codePoints(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--
  return count
}
