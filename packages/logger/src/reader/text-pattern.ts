/**
 * Text pattern in which `*` matches any text. `\*` is a literal star, and `\\` before a star a literal
 * backslash.
 */
export interface TextPattern {
  /** Literal texts between the stars, in order. A single part is the whole text. */
  readonly parts: readonly string[]
}

/** Parses a pattern. */
export function textPattern(text: string): TextPattern {
  const parts: string[] = []
  let part = ''
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    const next = text[i + 1]
    if (character === '\\' && (next === '*' || (next === '\\' && text[i + 2] === '*'))) {
      part += next
      i++
    } else if (character === '*') {
      parts.push(part)
      part = ''
    } else part += character
  }
  return { parts: [...parts, part] }
}

/** Returns true if the whole text matches the pattern. Takes linear time. */
export function fitsPattern({ parts }: TextPattern, text: string): boolean {
  const first = parts[0]!
  if (parts.length === 1) return text === first
  const last = parts.at(-1)!
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (let i = 1; i < parts.length - 1; i++) {
    const found = text.indexOf(parts[i]!, at)
    if (found === -1) return false
    at = found + parts[i]!.length
  }
  return at <= end
}
