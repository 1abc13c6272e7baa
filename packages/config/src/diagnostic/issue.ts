/** A problem with a value, and how to fix it. */
export interface Issue {
  readonly message: string
  readonly remedy: string
  /** Position within the string, if known. */
  readonly offset?: number
  /** Set if the problem depends on the machine, such as an unset variable or a missing file. */
  readonly ofMachine?: true
}

/** True if the result of a parser is a problem. */
export function isIssue(result: unknown): result is Issue {
  return typeof result === 'object' && result !== null && 'message' in result && 'remedy' in result
}
