/** Operands of several values in the filter's text: 3,4 or "Acme, Inc.",Other (D30). */

export function splitList(text: string): string[] {
  const found: string[] = []
  let value = ''
  let isQuoted = false
  let wasQuoted = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!
    if (isQuoted && letter === '\\' && at + 1 < text.length) value += text[++at]
    else if (letter === '"' && (isQuoted || value.trim() === '')) {
      isQuoted = !isQuoted
      wasQuoted = true
      if (isQuoted) value = ''
    } else if (letter === ',' && !isQuoted) {
      found.push(wasQuoted ? value : value.trim())
      value = ''
      wasQuoted = false
    } else if (isQuoted || !wasQuoted || letter !== ' ') value += letter
  }
  if (found.length > 0 || value !== '' || wasQuoted) found.push(wasQuoted ? value : value.trim())
  return found
}

export function joinList(values: readonly string[]): string {
  return values
    .map(value => (/[,()"]|^\s|\s$|^$/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value))
    .join(',')
}
