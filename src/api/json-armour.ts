/**
 * What JSON may not be before it is parsed: too deep for the code that walks it, with a member twice (of which a parser silently keeps one), or with
 * the member `__proto__`. RFC 8259 leaves the first two to the reader. Whether it is JSON at all is the parser's to say.
 */

const depthMax = 32

/** Why a text is refused; null when it may be parsed. One pass, no recursion. */
export function jsonComplaint(text: string): string | null {
  /** For each open object its member names, for each open array null. */
  const open: (Set<string> | null)[] = []
  let isName = false
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at)
        const names = open.at(-1)
        if (isName && names) {
          const complaint = nameComplaint(text.slice(at, end + 1), names)
          if (complaint) return complaint
        }
        isName = false
        at = end
        break
      }
      case openBrace:
      case openBracket:
        if (open.length === depthMax) return `it is nested more than ${depthMax} levels deep`
        isName = text.charCodeAt(at) === openBrace
        open.push(isName ? new Set() : null)
        break
      case closeBrace:
      case closeBracket:
        open.pop()
        isName = false
        break
      case comma:
        isName = open.at(-1) instanceof Set
        break
    }
  }
  return null
}

const [quote, openBrace, closeBrace, openBracket, closeBracket, comma, backslash] = [34, 123, 125, 91, 93, 44, 92]

/** Where the string that begins at `start` ends: the index of its closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === backslash) at++
    else if (code === quote) return at
  }
  return text.length
}

function nameComplaint(literal: string, names: Set<string>): string | null {
  let name = literal.slice(1, -1)
  if (name.includes('\\')) {
    try {
      name = JSON.parse(literal)
    } catch {
      return null
    }
  }
  if (name === '__proto__') return '"__proto__" is no name of a member'
  if (names.has(name)) return `it has the member ${JSON.stringify(name.slice(0, 100))} twice`
  names.add(name)
  return null
}
