const CONTEXT = 3
/** Maximum product of the numbers of differing lines. Above it, all of them are shown as replaced. */
const MOST_COMPARED = 4_000_000

/** Returns the differences between two texts in the unified format, or an empty list. */
export function unifiedDiff(before: string, after: string, name: string): readonly string[] {
  if (before === after) return []
  return [`--- ${name}`, `+++ ${name}`, ...hunksOf(signedLines(before.split('\n'), after.split('\n')))]
}

/** Returns the lines of both texts, with ` `, `-` or `+` in front. */
function signedLines(before: readonly string[], after: readonly string[]): string[] {
  const least = Math.min(before.length, after.length)
  let start = 0
  while (start < least && before[start] === after[start]) start++
  let end = 0
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end++
  return [
    ...before.slice(0, start).map((text) => ` ${text}`),
    ...changes(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map((text) => ` ${text}`),
  ]
}

/** Returns the shortest list of changes, by the longest common subsequence. */
function changes(before: readonly string[], after: readonly string[]): string[] {
  if (before.length * after.length > MOST_COMPARED)
    return [...before.map((text) => `-${text}`), ...after.map((text) => `+${text}`)]
  const width = after.length + 1
  const lengths = new Uint32Array((before.length + 1) * width)
  const below = (i: number, k: number): number => lengths[(i + 1) * width + k]!
  const right = (i: number, k: number): number => lengths[i * width + k + 1]!
  for (let i = before.length - 1; i >= 0; i--)
    for (let k = after.length - 1; k >= 0; k--)
      lengths[i * width + k] =
        before[i] === after[k] ? below(i, k + 1) + 1 : Math.max(below(i, k), right(i, k))
  const lines: string[] = []
  for (let i = 0, k = 0; i < before.length || k < after.length; ) {
    const isEnd = i === before.length || k === after.length
    if (!isEnd && before[i] === after[k]) {
      lines.push(` ${after[k++]}`)
      i++
    } else if (isEnd ? k === after.length : below(i, k) >= right(i, k)) lines.push(`-${before[i++]}`)
    else lines.push(`+${after[k++]}`)
  }
  return lines
}

/** Groups changes that are close to each other, with some lines around them. */
function hunksOf(lines: readonly string[]): string[] {
  const changed = lines.flatMap((line, i) => (line.startsWith(' ') ? [] : [i]))
  const count = (part: readonly string[], other: string): number =>
    part.filter((line) => !line.startsWith(other)).length
  const hunks: string[] = []
  for (let first = 0; first < changed.length; first++) {
    const start = Math.max(0, changed[first]! - CONTEXT)
    while (changed[first + 1]! - changed[first]! <= 2 * CONTEXT) first++
    const [past, part] = [lines.slice(0, start), lines.slice(start, changed[first]! + CONTEXT + 1)]
    const range = (other: string): string => `${count(past, other) + 1},${count(part, other)}`
    hunks.push(`@@ -${range('+')} +${range('-')} @@`, ...part)
  }
  return hunks
}
