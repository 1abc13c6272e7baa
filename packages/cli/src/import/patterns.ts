import { compileRegex } from '@sluice/core'

/** Parts of a PCRE pattern: a class, a back reference, another escape, the start of a look-around, or a character. */
const PART =
  /\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\\(?:[1-9]\d*|k[<{'][^>}']*.|g\{?-?\w+\}?)|\\[\s\S]|\(\?<?[=!]|[\s\S]/g
const ANY_TEXT = '(?:[\\s\\S]*)'

/** Returns a pattern of RE2 for one of PCRE, or null if RE2 does not support it. */
export function patternOf(pcre: string, ignoresCase: boolean): string | null {
  const pattern = pcre
    .replaceAll(/\(\?P?<([A-Za-z]\w*)>/g, '(')
    .replaceAll(/\(\?!([\w-]+(?:\/[\w-]+)*)\)(?=(?:\.\*)?\$?$)/g, (_, word: string) => withoutPrefix(word))
  if (/\(\?[=!<>]|\\[1-9]|[*+?}]\+|\\[GKRX]/.test(pattern)) return null
  // In PCRE, `$` also matches before a newline at the end.
  const ends = pattern.replaceAll(PART, (part) => (part === '$' ? '(?:\\n|%0A)?$' : part))
  const whole = `${ignoresCase ? '(?i)' : ''}${ends}`
  try {
    compileRegex(whole)
  } catch {
    return null
  }
  return whole
}

/**
 * Returns a pattern of RE2 that matches every text that one of PCRE matches, and more. Look-around is removed, and
 * back references match any text. A pattern that is still unknown becomes one that matches everything.
 */
export function widenedPattern(pcre: string, ignoresCase: boolean): string {
  let text = ''
  let depth = 0
  for (const [part] of pcre.matchAll(PART)) {
    if (depth > 0) depth += part.startsWith('(') ? 1 : part === ')' ? -1 : 0
    else if (/^\(\?<?[=!]$/.test(part)) {
      depth = 1
      text += '(?:)'
    } else text += /^\\([1-9]|k[<{']|g[{\d-])/.test(part) ? ANY_TEXT : part
  }
  const greedy = text.replaceAll('(?>', '(?:').replaceAll(/(?<!\\)([*+?}])\+/g, '$1')
  return (pcre.includes('\\Q') ? null : patternOf(greedy, ignoresCase)) ?? '^'
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
