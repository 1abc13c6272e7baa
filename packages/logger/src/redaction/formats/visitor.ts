import type { Syntax } from './syntax.js'

/** Where a value stands within a text. */
export interface Location {
  /** What gives way to another value. */
  readonly start: number
  readonly end: number
  readonly syntax: Syntax
  /** A value of JSON without quotes, which what takes its place needs. */
  readonly isUnquoted: boolean
  /** It has parts of its own. */
  readonly isContainer: boolean
  /** What goes when the value is deleted together with its name; `changedEnd` is where the last change ended. */
  outer(changedEnd: number): readonly [number, number]
}

/** What a format's scanner reports of a text, from its beginning to its end. */
export interface Visitor {
  /** Whether a rule takes the values under this name. */
  takes(name: string): boolean
  /** A value under a name that a rule takes; the scanner goes on after it. */
  take(name: string, location: Location): void
  /** A piece of text that no name has taken; unquoted as in a place. Called for every value, so it gets no object. */
  leaf(start: number, end: number, syntax: Syntax, isUnquoted: boolean): void
}

/** Reports to a visitor what a text holds. False: parts of the text are not what the format allows. */
export type Scan = (text: string, visitor: Visitor) => boolean

/** A location with nothing around it. */
export function plainLocation(start: number, end: number, syntax: Syntax): Location {
  return { start, end, syntax, isUnquoted: false, isContainer: false, outer: () => [start, end] }
}

/** Names of forms may have parts: `user[password]`, `user.password`. The first part that a rule takes, or null. */
export function takenPart(name: string, visitor: Visitor): string | null {
  if (visitor.takes(name)) return name
  if (!/[.[]/.test(name)) return null
  return name.split(/[[\].]+/).find((part) => part !== '' && visitor.takes(part)) ?? null
}
