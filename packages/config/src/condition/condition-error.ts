/** A condition met values that it cannot work with: a division by zero, a text that is no number. */
export class ConditionError extends Error {}

/** Error for a number that cannot be represented exactly. Policies recognise it by its property (see Expression). */
export class NumberOutOfRange extends ConditionError {
  readonly isOutOfRange = true

  constructor() {
    super('number out of range')
  }
}
