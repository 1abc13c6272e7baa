import type { ErrorObject } from 'ajv'

/** Longest pointer and longest message that are told, in characters. */
const MAX_PART = 256
/** Longest text of all violations. */
const MAX_TEXT = 2000

/** What is wrong where: `/items/0/price must be number`. Values of the document are never told. */
export type Violation = string

/**
 * The first violations that a compiled schema found.
 * @param place stands before the pointers, such as `body`; empty: nothing does.
 */
export function violationsOf(
  errors: readonly ErrorObject[] | null | undefined,
  place: string,
  most: number,
): Violation[] {
  return (errors ?? []).slice(0, most).map(({ instancePath, message }) => {
    const at = `${place}${short(instancePath)}`
    return `${at === '' ? 'the document' : at} ${short(message ?? 'is not valid')}`
  })
}

/** All violations as one text of bounded length. */
export function violationsText(violations: readonly Violation[]): string {
  const text = violations.join('; ')
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`
}

function short(text: string): string {
  return text.length <= MAX_PART ? text : `${text.slice(0, MAX_PART)}…`
}
