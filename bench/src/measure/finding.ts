/** One thing that a benchmark needs of its machine. */
export interface Finding {
  /** Such as `cores`. */
  readonly subject: string
  /** `warning`: the figures are less than they could be; `problem`: some points cannot be measured. */
  readonly level: 'ok' | 'warning' | 'problem'
  /** What was found. */
  readonly found: string
  /** What to do; null when all is well. */
  readonly remedy: string | null
}

/** All is well. */
export function fine(subject: string, found: string): Finding {
  return { subject, level: 'ok', found, remedy: null }
}

/** The figures are less than they could be. */
export function warning(subject: string, found: string, remedy: string): Finding {
  return { subject, level: 'warning', found, remedy }
}

/** Some points cannot be measured. */
export function problem(subject: string, found: string, remedy: string): Finding {
  return { subject, level: 'problem', found, remedy }
}
