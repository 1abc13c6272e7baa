import type { ErrorObject, ValidateFunction } from 'ajv'
import { withinBudget } from './step-budget.js'

/** Longest pointer and longest message that are reported, in characters. */
const MAX_PART = 256
/** Longest text of all violations. */
const MAX_TEXT = 2000

/** What is wrong where: `/items/0/price must be number`. Values of the document are never reported. */
export type Violation = string

/** How violations are reported. */
export interface ViolationWords {
  /** Stands before the pointers, such as `body`; empty: nothing does. */
  readonly location: string
  /** Most that are reported. */
  readonly most: number
}

/** The first violations of a compiled schema in a value. */
export function findViolations(
  validate: ValidateFunction,
  value: unknown,
  { location, most }: ViolationWords,
): Violation[] {
  const isValid = withinBudget(() => validate(value))
  if (isValid === true) return []
  if (isValid === 'endless') return [`${named(location)} takes too many steps to check`]
  if (isValid === 'failed') return [`${named(location)} cannot be checked`]
  const errors = validate.errors ?? []
  if (errors.length === 0) return [`${named(location)} is not valid`]
  return errors.slice(0, most).map(({ instancePath, message }: ErrorObject) => {
    const at = `${location}${short(instancePath)}`
    return `${named(at)} ${short(message ?? 'is not valid')}`
  })
}

function named(location: string): string {
  return location === '' ? 'the document' : location
}

/** All violations as one text of bounded length. */
export function violationsText(violations: readonly Violation[]): string {
  const text = violations.join('; ')
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`
}

function short(text: string): string {
  return text.length <= MAX_PART ? text : `${text.slice(0, MAX_PART)}…`
}
