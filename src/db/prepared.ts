/**
 * Which statements are worth preparing: those that come again. The client never forgets a prepared statement,
 * so there is an end to them. Knows nothing of what they say.
 */

const mostPrepared = 1000
const mostRemembered = 2000

/**
 * A function that says of a statement's text whether to prepare it: from its second use on (the first costs
 * the same either way), as long as fewer than a thousand are. Filters put together by callers are mostly seen
 * once and leave no trace.
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
