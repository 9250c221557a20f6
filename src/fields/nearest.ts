/** "Did you mean": the known word nearest to an unknown one. */

/** Longer ones are no misspelt name, and comparing them costs. */
const longestWord = 64

/** The nearest of `known` within a third of the word's length in edits (Damerau-Levenshtein, restricted), or null. */
export function nearest(word: string, known: Iterable<string>): string | null {
  if (word.length > longestWord) return null
  const limit = Math.max(1, Math.floor(word.length / 3))
  let best: string | null = null
  let bestDistance = limit + 1
  const wanted = word.toLowerCase()
  for (const candidate of known) {
    if (Math.abs(candidate.length - wanted.length) >= bestDistance) continue
    const distance = edits(wanted, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function edits(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1)
      row.push(cost)
    }
    before = last
    last = row
  }
  return last[b.length]!
}
