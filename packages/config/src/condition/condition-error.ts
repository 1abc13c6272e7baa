/** A condition met values that it cannot work with: a division by zero, a text that is no number. */
export class ConditionError extends Error {}

/** A number is beyond what is exact. Policies know it by its property (see Expression). */
export class NumberOutOfRange extends ConditionError {
  readonly isOutOfRange = true

  constructor() {
    super('number out of range')
  }
}
