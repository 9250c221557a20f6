/** Mentions in texts (D156): `@{12 Priya Sharma}` for the service, “@Priya Sharma” for people. Pure. */

const stored = /@\{(\d{1,15})(?: ([^{}]*))?\}/g

export type Part = { readonly text: string } | { readonly user: number; readonly name: string }

/** The people who were offered in this page or read in a text, by their names in what is typed. */
const offered = new Map<string, number>()

/** Remembers a person; returns their name in what is typed, which has a number if it is another's, too. */
export function rememberPerson(id: number, name: string): string {
  const plain = name.replace(/[{}]/g, '')
  const other = offered.get(plain)
  const own = other === undefined || other === id ? plain : `${plain} (${id})`
  offered.set(own, id)
  return own
}

/** A stored text in parts: texts, and the people whom it mentions. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = []
  let end = 0
  for (const match of text.matchAll(stored)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index) })
    parts.push({ user: Number(match[1]), name: match[2] ?? `No. ${match[1]}` })
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push({ text: text.slice(end) })
  return parts
}

/** A stored text as people read it. */
export const plainText = (text: string): string =>
  partsOf(text)
    .map(part => ('text' in part ? part.text : `@${part.name}`))
    .join('')

/**
 * A stored text to be edited, with “@Priya Sharma” in the place of mentions. It stays as it is if that would
 * be read as other people: where a letter follows the name, or a word that makes it another's.
 */
export function readableText(text: string): string {
  const readable = partsOf(text)
    .map(part => ('text' in part ? part.text : `@${rememberPerson(part.user, part.name)}`))
    .join('')
  return usersIn(storedText(readable)) === usersIn(text) ? readable : text
}

const usersIn = (text: string): string =>
  partsOf(text)
    .flatMap(part => ('user' in part ? part.user : []))
    .join()

/** A typed text as it is stored: the names of people who were offered become mentions, long ones first. */
export function storedText(typed: string): string {
  const names = [...offered.keys()].sort((one, other) => other.length - one.length)
  let text = ''
  for (let at = 0; at < typed.length; ) {
    const name = typed[at] === '@' ? names.find(one => isNamedAt(typed, at + 1, one)) : undefined
    text += name ? `@{${offered.get(name)} ${name}}` : typed[at]
    at += name ? name.length + 1 : 1
  }
  return text
}

function isNamedAt(text: string, at: number, name: string): boolean {
  return text.startsWith(name, at) && !/^[\p{L}\p{N}]/u.test(text.slice(at + name.length))
}

/** The begun mention before the caret: the place of its @, and the typed part of the name; null: none. */
export function mentionBefore(text: string, caret: number): { at: number; typed: string } | null {
  const found = /(?:^|[\s(])@([\p{L}\p{N}.'’-]*(?: [\p{L}\p{N}.'’-]*)?)$/u.exec(text.slice(0, caret))
  return found ? { at: caret - found[1]!.length - 1, typed: found[1]! } : null
}
