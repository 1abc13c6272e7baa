/** A part of the document that is checked now and will run in a later version. */
export interface Unavailable {
  /** Where; `*` is any key or position. */
  readonly path: readonly string[]
  /** The values that are not available; absent: every value but an empty list. */
  readonly values?: readonly string[]
  /** What it is called in the message, "… is not available yet". */
  readonly what: string
  /** What to do instead. */
  readonly remedy: string
}

/** Everything in the document that is not available yet; a capability that arrives removes its rows. */
export const UNAVAILABLE: readonly Unavailable[] = []

/** Policies that a later version brings; a name that the catalog has is available whatever stands here. */
export const COMING_POLICIES: ReadonlySet<string> = new Set()
