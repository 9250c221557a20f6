/** Explains why a text is not JSON, and how to write it instead. */

/** The error at a character that JSON doesn't allow there. `text` is read up to `at`. */
export function unexpected({ text, at }: { readonly text: string; readonly at: number }): SyntaxError {
  if (at >= text.length) return new SyntaxError(`it ends too soon at position ${at + 1}`)
  const character = String.fromCodePoint(text.codePointAt(at)!)
  const advice = adviceOf(
    character,
    text
      .slice(Math.max(0, at - 100), at)
      .trimEnd()
      .at(-1),
  )
  return new SyntaxError(`unexpected ${JSON.stringify(character)} at position ${at + 1}${advice}`)
}

function adviceOf(character: string, before: string | undefined): string {
  if (/["'“”‘’`]/.test(character) && character !== '"') return '; texts and names stand in double quotes'
  if (/[}\]]/.test(character) && before === ',') return '; no comma stands before it'
  if (/["{[]/.test(character) && before && /[}\]\w]/.test(before)) return '; a comma is missing before it'
  if (/[#/]/.test(character)) return '; JSON has no comments'
  if (/[A-Za-z_$]/.test(character))
    return '; texts and names stand in double quotes, and words are true, false and null'
  return ''
}
