/**
 * The number of tokens of a text, as language models count them: an estimate that is rather too high. Models
 * differ, and a table of any of them would be many megabytes.
 */

/** Words, up to three digits, the signs of JSON, other signs, blanks, and letters of other scripts. */
const parts =
  /([A-Z]?[a-z]+|[A-Z]+(?![a-z]))|(\d{1,3})|(["{}[\],:]+)|([!-/:-@[-`{-~])|(\s{2,}|\n)|([\x80-\xff])|([^\0-\xff])/g

export function tokensOf(text: string): number {
  let sum = 0
  for (const [part, word, digits, json, sign, blank, latin] of text.matchAll(parts)) {
    if (word) sum += Math.ceil(part.length / 7)
    else if (json) sum += part.length / 3 + 0.4
    else sum += digits || blank || latin ? 1 : sign ? 0.9 : 1.5
  }
  return Math.ceil(sum)
}
