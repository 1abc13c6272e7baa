/** Returns a pattern of RE2 for one of PCRE, or null if RE2 does not support it. */
export function patternOf(pcre: string, ignoresCase: boolean): string | null {
  const pattern = pcre
    .replaceAll(/\(\?<([A-Za-z]\w*)>/g, '(')
    .replaceAll(/\(\?!([\w-]+(?:\/[\w-]+)*)\)(?=(?:\.\*)?\$?$)/g, (_, word: string) => withoutPrefix(word))
  if (/\(\?[=!<>]|\\[1-9]|[*+?}]\+|\\[GKRX]/.test(pattern)) return null
  try {
    new RegExp(pattern)
  } catch {
    return null
  }
  return `${ignoresCase ? '(?i)' : ''}${pattern}`
}

/** Returns a pattern for the start of all texts that do not begin with a word, as `(?!word)` at the end of a pattern. */
function withoutPrefix(word: string): string {
  const [first, ...rest] = [...word]
  const next = rest.length === 0 ? '' : `|${escapeRegex(first!)}${withoutPrefix(rest.join(''))}`
  return `(?:$|[^${first === '-' ? '\\-' : first}]${next})`
}

/** Escapes a text for a regular expression. */
export function escapeRegex(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
