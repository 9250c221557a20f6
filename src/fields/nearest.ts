/** "Did you mean": the known word nearest to an unknown one. */

/** A longer word is not a misspelt name, and comparing it is slow. */
const longestWord = 64
/** A misspelling has at most this many edits, and a small limit makes counting faster. */
const mostEdits = 8

/** The hint for an unknown word: the nearest known word, or `otherwise`. */
export function suggestion(word: string, known: Iterable<string>, otherwise: string): string {
  const near = nearest(word, known)
  return near ? `Did you mean "${near}"?` : otherwise
}

/**
 * The nearest of `known` within a third of the word's length in edits, at most `limit` (Damerau-Levenshtein,
 * restricted), or null.
 */
export function nearest(word: string, known: Iterable<string>, limit: number = mostEdits): string | null {
  const wanted = word.length > longestWord ? '' : word.toLowerCase()
  if (wanted.length > longestWord || wanted === '') return null
  let best: string | null = null
  let most = Math.min(limit, Math.max(1, Math.floor(wanted.length / 3)))
  for (const candidate of known) {
    const other = candidate.toLowerCase()
    const distance = Math.abs(other.length - wanted.length) > most ? most + 1 : edits(wanted, other, most)
    if (distance > most) continue
    best = candidate
    most = distance - 1
    if (most < 0) break
  }
  return best
}

/**
 * The edit distance of `a` and `b`. Counting stops beyond `most`. Only the cells that so few edits can reach
 * are computed.
 */
function edits(a: string, b: string, most: number): number {
  const far = most + 1
  let [before, last, row] = rows as [Uint8Array, Uint8Array, Uint8Array]
  for (let j = 0; j <= b.length; j++) last[j] = Math.min(j, far)
  for (let i = 1; i <= a.length; i++) {
    const from = Math.max(1, i - most)
    const to = Math.min(b.length, i + most)
    let least = from === 1 ? Math.min(i, far) : far
    row[from - 1] = least
    for (let j = from; j <= to; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same)
      const isExchanged =
        i > 1 &&
        j > 1 &&
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      if (isExchanged) cost = Math.min(cost, before[j - 2]! + 1)
      row[j] = Math.min(cost, far)
      least = Math.min(least, cost)
    }
    if (least >= far) return far
    if (to < b.length) row[to + 1] = far
    ;[before, last, row] = [last, row, before]
  }
  return last[b.length]!
}

/** Three rows of the table, for words of up to 64 letters and the words near them. */
const rows = [0, 1, 2].map(() => new Uint8Array(longestWord + 2 * mostEdits))
