import type { ErrorObject, ValidateFunction } from 'ajv'
import { withinBudget } from './step-budget.js'
import { violationWords } from './violation-words.js'

/** Maximum length of a reported pointer and of a reported message, in characters. */
const MAX_PART = 256
/** Maximum length of the text of all violations, in characters. */
const MAX_TEXT = 2000

/** Location and problem, such as `/items/0/price must be number`. Values of the document are never reported. */
export type Violation = string

interface ViolationOptions {
  /** Prefix of the pointers, such as `body`, or an empty string. */
  readonly location: string
  /** Maximum number of reported violations. */
  readonly most: number
}

/** Returns the first violations of a compiled schema in a value. */
export function findViolations(
  validate: ValidateFunction,
  value: unknown,
  { location, most }: ViolationOptions,
): Violation[] {
  const isValid = withinBudget(() => validate(value))
  if (isValid === true) return []
  if (isValid === 'endless') return [`${subjectOf(location)} takes too many steps to check`]
  if (isValid === 'failed') return [`${subjectOf(location)} cannot be checked`]
  const errors = validate.errors ?? []
  if (errors.length === 0) return [`${subjectOf(location)} is not valid`]
  return errors.slice(0, most).map((error: ErrorObject) => {
    const at = `${location}${short(error.instancePath)}`
    return `${subjectOf(at)} ${short(violationWords(error))}`
  })
}

function subjectOf(location: string): string {
  return location === '' ? 'the document' : location
}

/** Joins all violations into one text of limited length. */
export function violationsText(violations: readonly Violation[]): string {
  const text = violations.join('; ')
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`
}

function short(text: string): string {
  return text.length <= MAX_PART ? text : `${text.slice(0, MAX_PART)}…`
}
