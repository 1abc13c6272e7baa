/** Most ways in which the bounded parts of a pattern may share a text among them. */
const MAX_WAYS = 1000

/** `?`, `*`, `+`, `{2}`, `{2,}` and `{2,5}`. */
const QUANTIFIER = /[?*+]|\{(\d+)(?:(,)(\d*))?\}/y

/**
 * Whether matching a text may take more than linear time: libxml2 tries one way after the other, and gives up after ten
 * million steps, which takes seconds. Says so too often rather than too seldom: of a pattern with two parts that repeat
 * without bound, or with a repeated group in which something repeats, is optional or is chosen.
 */
export function isSlowPattern(pattern: string): boolean {
  let unbounded = 0
  let ways = 1
  /** Of each open group: whether it can match a text in more than one way. */
  const groups: boolean[] = [false]
  let closedVaries = false
  let i = 0
  while (i < pattern.length) {
    const quantifier = i === 0 ? null : quantifierAt(pattern, i)
    if (quantifier !== null) {
      const { least, most, length } = quantifier
      if (closedVaries && most > 1) return true
      if (most === Number.POSITIVE_INFINITY) unbounded++
      else ways *= most - least + 1
      if (unbounded > 1 || ways > MAX_WAYS) return true
      if (most > least) groups[groups.length - 1] = true
      closedVaries = false
      i += length
      continue
    }
    const letter = pattern[i]
    closedVaries = letter === ')' && groups.length > 1 && groups.pop() === true
    if (closedVaries || letter === '|') groups[groups.length - 1] = true
    if (letter === '(') groups.push(false)
    i = letter === '[' ? classEnd(pattern, i) : i + (letter === '\\' ? 2 : 1)
  }
  return false
}

interface Quantifier {
  readonly least: number
  readonly most: number
  /** Of its text. */
  readonly length: number
}

function quantifierAt(pattern: string, at: number): Quantifier | null {
  QUANTIFIER.lastIndex = at
  const found = QUANTIFIER.exec(pattern)
  if (found === null) return null
  const [text, count, comma, end] = found
  const { length } = text
  if (text === '?') return { least: 0, most: 1, length }
  if (count === undefined) return { least: text === '*' ? 0 : 1, most: Number.POSITIVE_INFINITY, length }
  const least = Number(count)
  if (comma === undefined) return { least, most: least, length }
  return { least, most: end === '' ? Number.POSITIVE_INFINITY : Number(end), length }
}

/** Behind a character class, with those that are subtracted inside. */
function classEnd(pattern: string, start: number): number {
  let depth = 0
  for (let i = start; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++
    else if (pattern[i] === '[') depth++
    else if (pattern[i] === ']' && --depth === 0) return i + 1
  }
  return pattern.length
}
