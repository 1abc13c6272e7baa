/** Sent in place of a configuration that the thread may already have. */
export const UNKNOWN_WORK = null

/** An input for a kind of work. */
export interface ThreadTask {
  /** URL of the module that exports `work`. */
  readonly module: string
  /** Key for the module and its configuration. */
  readonly key: string
  readonly config: unknown
  readonly input: unknown
}

/** Result of a task. */
export interface ThreadAnswer {
  /** False if the thread needs the configuration first. */
  readonly isKnown: boolean
  readonly output: unknown
}
