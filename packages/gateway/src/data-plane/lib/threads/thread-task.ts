/** Stands for a configuration that the thread may have met before. */
export const UNKNOWN_WORK = null

/** One input for one kind of work. */
export interface ThreadTask {
  /** Address of the module that exports `work`. */
  readonly module: string
  /** Names the module together with the configuration. */
  readonly key: string
  readonly config: unknown
  readonly input: unknown
}

export interface ThreadAnswer {
  /** False: the thread needs the configuration. */
  readonly isKnown: boolean
  readonly output: unknown
}
