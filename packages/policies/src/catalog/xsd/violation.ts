/** Something in a document that its schema does not allow. */
export interface Violation {
  readonly line: number
  /** XPath of the element. */
  readonly path: string
  readonly message: string
  /** The schema where the mistake is, when it is in one. */
  readonly file: string | null
}

const MAX_PATH = 160
const MAX_MESSAGE = 240
/** Longest message that is surely whole. */
const MAX_WHOLE = 4096

/** A violation of bounded length. */
export function violation(found: {
  readonly line: number
  readonly path: string | null
  readonly message: string
  readonly file: string | null
}): Violation {
  const { line, path, message, file } = found
  const words = message
    .trim()
    .replaceAll(/'\{[^{}']*\}/g, "'")
    .replaceAll(/\s+/g, ' ')
  return { line, path: cut(path ?? '/', MAX_PATH), message: cut(words, MAX_MESSAGE), file }
}

/** All violations in one sentence. @param count of all there are, more than are listed perhaps */
export function violationText(violations: readonly Violation[], count: number): string {
  const listed = violations.map(({ line, path, message }) => `line ${line}, ${path}: ${message}`).join(' ')
  return count > violations.length ? `${listed} (and ${count - violations.length} more)` : listed
}

/**
 * Where libxml2 quotes values of the document, from the first quote to the last that can end one: rather too much of
 * the sentence is left out than a part of a value is shown.
 */
const QUOTED: readonly (readonly [RegExp, string])[] = [
  [/\b(value|content) '.*' (?=is|has|does|of)/s, '$1 '],
  [/: '.*' (?=is not a valid value)/s, ': the value '],
  [/key-sequence \[.*\]/s, 'key-sequence'],
]

/** A message of the validator without what the document says. */
export function withoutValues(message: string): string {
  // A long message comes without its end.
  if (message.length > MAX_WHOLE) return `${message.split("'", 2).join("'")}': a value is not valid`
  return QUOTED.reduce((text, [pattern, instead]) => text.replace(pattern, instead), message)
}

/** A message that has the pattern as somebody wrote it. @param patterns those, by what was made of them. */
export function withPattern(message: string, patterns: Readonly<Record<string, string>>): string {
  return message.replace(/(?<=by the pattern ').*(?=')/s, (pattern) =>
    Object.hasOwn(patterns, pattern) ? patterns[pattern]! : pattern,
  )
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}
