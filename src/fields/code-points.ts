/** The length of a text in Unicode code points (D15). */

/** How many Unicode code points a well-formed text has. Takes no memory, however long the text is. */
export function codePoints(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--
  return count
}
