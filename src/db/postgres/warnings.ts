/** Logs the warnings of a PostgreSQL server, for the operator (D100). Knows no connection. */

/** Takes the fields of a notice by their letters; `isOfStatement`: it is about a statement. */
export type OnNotice = (fields: ReadonlyMap<string, string>, isOfStatement: boolean) => void

/** Limit for a server that sends ever more of them. */
const linesMax = 100
const longest = 500

/**
 * Logs each warning once: at the start of a connection with its words, such as that the server's collations
 * have changed; of a statement only its SQLSTATE, because the words may quote a value.
 */
export function warnings(log: (line: string) => void): OnNotice {
  const logged = new Set<string>()
  return (fields, isOfStatement) => {
    if (fields.get('V') !== 'WARNING' || logged.size >= linesMax) return
    const words = [fields.get('M'), fields.get('H')].filter(Boolean).join('. ')
    const line = `PostgreSQL warns with ${fields.get('C')}${isOfStatement ? '' : `: ${words}`}`
    const plain = line.replace(/\p{C}+/gu, ' ').slice(0, longest)
    if (logged.has(plain)) return
    logged.add(plain)
    log(plain)
  }
}
