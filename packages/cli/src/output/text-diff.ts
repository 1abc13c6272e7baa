const CONTEXT = 3
/** Maximum product of the numbers of differing lines. Above it, all of them are shown as replaced. */
const MOST_COMPARED = 4_000_000

interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** Returns the differences between two texts in the unified format, or an empty list. */
export function unifiedDiff(before: string, after: string, name: string): readonly string[] {
  if (before === after) return []
  const lines = differences(before.split('\n'), after.split('\n'))
  return [`--- ${name}`, `+++ ${name}`, ...hunksOf(lines)]
}

function differences(before: readonly string[], after: readonly string[]): Line[] {
  const least = Math.min(before.length, after.length)
  let start = 0
  while (start < least && before[start] === after[start]) start++
  let end = 0
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const same = (texts: readonly string[]): Line[] => texts.map((text) => ({ sign: ' ', text }))
  return [
    ...same(before.slice(0, start)),
    ...changes(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ]
}

/** Returns the shortest list of removed and added lines, by the longest common subsequence. */
function changes(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1
  const isTooLong = before.length * after.length > MOST_COMPARED
  const lengths = new Uint32Array(isTooLong ? 0 : (before.length + 1) * width)
  if (!isTooLong) {
    for (let i = before.length - 1; i >= 0; i--) {
      for (let k = after.length - 1; k >= 0; k--) {
        const [down, right] = [lengths[(i + 1) * width + k]!, lengths[i * width + k + 1]!]
        lengths[i * width + k] =
          before[i] === after[k] ? lengths[(i + 1) * width + k + 1]! + 1 : Math.max(down, right)
      }
    }
  }
  const lines: Line[] = []
  let [i, k] = [0, 0]
  while (i < before.length || k < after.length) {
    if (!isTooLong && i < before.length && k < after.length && before[i] === after[k]) {
      lines.push({ sign: ' ', text: before[i++]! })
      k++
    } else if (
      i < before.length &&
      (isTooLong || k === after.length || lengths[(i + 1) * width + k]! >= lengths[i * width + k + 1]!)
    )
      lines.push({ sign: '-', text: before[i++]! })
    else lines.push({ sign: '+', text: after[k++]! })
  }
  return lines
}

/** Groups changes that are close to each other, with some lines around them. */
function hunksOf(lines: readonly Line[]): string[] {
  const changed = lines.flatMap(({ sign }, i) => (sign === ' ' ? [] : [i]))
  const hunks: string[] = []
  for (let first = 0; first < changed.length; ) {
    let last = first
    while (changed[last + 1] !== undefined && changed[last + 1]! - changed[last]! <= 2 * CONTEXT) last++
    const start = Math.max(0, changed[first]! - CONTEXT)
    const part = lines.slice(start, changed[last]! + CONTEXT + 1)
    const range = (other: '-' | '+'): string => {
      const from = lines.slice(0, start).filter(({ sign }) => sign !== other).length
      return `${from + 1},${part.filter(({ sign }) => sign !== other).length}`
    }
    hunks.push(`@@ -${range('+')} +${range('-')} @@`, ...part.map(({ sign, text }) => sign + text))
    first = last + 1
  }
  return hunks
}
