/**
 * A condition met values that it cannot work with: a division by zero, a text that is no number. The message names the
 * operation and never a value.
 */
export class ConditionError extends Error {
  override readonly name = 'ConditionError'
}

/**
 * An error that is made once, when the condition is compiled, and thrown as often as needed: clients can provoke these
 * errors, and a stack trace each time would be theirs to spend.
 */
export function conditionError(message: string, offset: number): ConditionError {
  return new ConditionError(`${message} at character ${offset + 1} of the condition`)
}
