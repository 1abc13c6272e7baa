/**
 * Returns the known word that was most likely meant, or null: at most one edit for short words, two for words
 * of six letters or more, ignoring case.
 */
export function closestWord(word: string, known: Iterable<string>): string | null {
  if (word.length > 64) return null
  const written = word.toLowerCase()
  let best: string | null = null
  let bestDistance = word.length < 6 ? 2 : 3
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(written, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Returns `did you mean 'x'?`, or the fallback if no word is close. */
export function suggestion(word: string, known: Iterable<string>, fallback: string): string {
  const closest = closestWord(word, known)
  return closest === null ? fallback : `did you mean '${closest}'?`
}

/**
 * Returns the number of insertions, deletions, substitutions and swaps of adjacent characters between two
 * words.
 */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwap =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const plain = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
      )
      current.push(isSwap ? Math.min(plain, beforeLast[column - 2]! + 1) : plain)
    }
    beforeLast = last
    last = current
  }
  return last[to.length]!
}
