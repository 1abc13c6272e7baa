/** A condition met values that it cannot work with: a division by zero, a text that is no number. */
export class ConditionError extends Error {}
