/** A violation of the schema. */
export interface Violation {
  readonly line: number
  /** XPath of the element. */
  readonly path: string
  readonly message: string
  /** Schema with the error, or null if the error is in the document. */
  readonly file: string | null
}

const MAX_PATH = 160
const MAX_MESSAGE = 240
/** Maximum length of a message that libxml2 does not truncate. */
const MAX_WHOLE = 4096

/** Creates a violation of limited length. */
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

/** Returns all violations as one text. @param count total number, which may exceed the listed ones */
export function violationText(violations: readonly Violation[], count: number): string {
  const listed = violations.map(({ line, path, message }) => `line ${line}, ${path}: ${message}`).join(' ')
  return count > violations.length ? `${listed} (and ${count - violations.length} more)` : listed
}

/**
 * Match values quoted by libxml2, from the first quote to the last possible one. Rather too much is removed
 * than a part of a value shown.
 */
const QUOTED: readonly (readonly [RegExp, string])[] = [
  [/\b(value|content) '.*' (?=is|has|does|of)/s, '$1 '],
  [/: '.*' (?=is not a valid value)/s, ': the value '],
  [/key-sequence \[.*\]/s, 'key-sequence'],
]

/** Removes quoted values from a validator message. */
export function withoutValues(message: string): string {
  // libxml2 truncates long messages.
  if (message.length > MAX_WHOLE) return `${message.split("'", 2).join("'")}': a value is not valid`
  return QUOTED.reduce((text, [pattern, instead]) => text.replace(pattern, instead), message)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}
