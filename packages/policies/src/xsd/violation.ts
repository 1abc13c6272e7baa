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

/** A violation in the words of the validator, with a bound on what it quotes. */
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

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}
