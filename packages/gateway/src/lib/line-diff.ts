/** Number of unchanged lines shown around a change. */
const CONTEXT = 2
/** Maximum number of lines that are compared on each side, after equal ones at the beginning and end. */
const MAX_COMPARED = 200
/** Maximum number of lines of a result. */
const MAX_SHOWN = 60
const GAP = '…'

/**
 * Returns the differences between two short texts as lines that start with `-`, `+` or a space, like `diff -u`. A line
 * `…` stands for lines that are left out. Not for large texts: it compares each line with each other one.
 */
export function lineDiff(before: string, after: string): string[] {
  const old = before.split('\n')
  const now = after.split('\n')
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const first = Math.max(0, start - CONTEXT)
  const last = Math.max(0, end - CONTEXT)
  const lines = [
    ...(first > 0 ? [GAP] : []),
    ...old.slice(first, start).map((line) => ` ${line}`),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end, old.length - last).map((line) => ` ${line}`),
    ...(last > 0 ? [GAP] : []),
  ]
  return lines.length <= MAX_SHOWN ? lines : [...lines.slice(0, MAX_SHOWN), GAP]
}

/** Compares the parts that differ, with the longest common subsequence of lines. */
function middle(old: readonly string[], now: readonly string[]): string[] {
  if (old.length > MAX_COMPARED || now.length > MAX_COMPARED)
    return [...old.slice(0, MAX_SHOWN / 4).map((line) => `-${line}`), ...now.map((line) => `+${line}`)]
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1))
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const isEqual = old[i] === now[j]
      common[i]![j] = isEqual ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!)
    }
  }
  const lines: string[] = []
  for (let i = 0, j = 0; i < old.length || j < now.length; ) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(` ${old[i++]}`)
      j++
    } else if (j === now.length || (i < old.length && common[i + 1]![j]! >= common[i]![j + 1]!))
      lines.push(`-${old[i++]}`)
    else lines.push(`+${now[j++]}`)
  }
  return lines
}
