import type { Syntax } from './syntax.js'

/** Position of a value within a text. */
export interface Location {
  /** Start of the range to replace. */
  readonly start: number
  readonly end: number
  readonly syntax: Syntax
  /** True for a JSON value without quotes. Its replacement needs quotes. */
  readonly isUnquoted: boolean
  /** True if the value has members. */
  readonly isContainer: boolean
  /** Returns the range to delete together with the value's name. `changedEnd` is the end of the last edit. */
  outer(changedEnd: number): readonly [number, number]
}

/** Receives the parts of a text from a scanner, from beginning to end. */
export interface Visitor {
  /** Returns false if no rule can match this part of the text, neither as a name nor as a value. */
  mayMatter(start: number, end: number): boolean
  /** Returns true if a rule applies to values with this name. */
  takes(name: string): boolean
  /** Called for a value whose name a rule matches. The scanner continues after it. */
  take(name: string, location: Location): void
  /**
   * Called for a piece of text without a matching name. `isUnquoted` is as in `Location`. Called for every
   * value, so the parameters are not an object.
   */
  leaf(start: number, end: number, syntax: Syntax, isUnquoted: boolean): void
}

/**
 * Reports the parts of a text to a visitor. Returns false if the text is not entirely valid in the format.
 */
export type Scan = (text: string, visitor: Visitor) => boolean

/** Returns a location without surrounding text. */
export function plainLocation(start: number, end: number, syntax: Syntax): Location {
  return { start, end, syntax, isUnquoted: false, isContainer: false, outer: () => [start, end] }
}

/**
 * Returns the first part of a form name such as `user[password]` or `user.password` that a rule matches, or
 * null.
 */
export function takenPart(name: string, visitor: Visitor): string | null {
  if (visitor.takes(name)) return name
  if (!/[.[]/.test(name)) return null
  return name.split(/[[\].]+/).find((part) => part !== '' && visitor.takes(part)) ?? null
}
