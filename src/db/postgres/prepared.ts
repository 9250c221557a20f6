/**
 * Decides which statements are prepared: the repeated ones. The client never forgets a prepared statement, so
 * their number is limited. Knows nothing of the content of statements.
 */

const mostPrepared = 1000
const mostRemembered = 2000

/**
 * Returns a function that decides by a statement's text whether to prepare it: from the second use on,
 * because the first use costs the same either way, and only for the first thousand statements. Most filters
 * that callers write are seen once and leave no trace.
 */
export function statementMemory(): (text: string) => boolean {
  const prepared = new Set<string>()
  const seen = new Set<string>()
  return text => {
    if (prepared.has(text)) return true
    if (prepared.size >= mostPrepared) return false
    if (seen.delete(text)) {
      prepared.add(text)
      return true
    }
    if (seen.size >= mostRemembered) seen.clear()
    seen.add(text)
    return false
  }
}
