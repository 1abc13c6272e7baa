/**
 * Error for values that an expression cannot process, such as a division by zero or text that is not a
 * number.
 */
export class ConditionError extends Error {}

/** Error for a number that cannot be represented exactly. Policies recognise it by its property (see Expression). */
export class NumberOutOfRange extends ConditionError {
  readonly isOutOfRange = true

  constructor() {
    super('number out of range')
  }
}
