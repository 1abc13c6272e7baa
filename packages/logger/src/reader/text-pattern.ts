/** A text in which `*` stands for any text; `\*` is a star, and `\\` a backslash before one. */
export interface TextPattern {
  /** The texts between the stars, in order; a single one is the whole text. */
  readonly parts: readonly string[]
}

/** Reads a pattern as people write it. */
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

/** Whether the whole text is as the pattern says, in time linear in its length. */
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
