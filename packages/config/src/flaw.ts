/** What is wrong with one value, and what to do about it. */
export interface Flaw {
  readonly message: string
  readonly remedy: string
  /** Where within the text, when it is known. */
  readonly offset?: number
  /** It is wrong on this machine, and may not be on another: a variable is not set, a file is not there. */
  readonly ofMachine?: true
}

/** Whether reading a value ended in a flaw. */
export function isFlaw(result: unknown): result is Flaw {
  return typeof result === 'object' && result !== null && 'message' in result && 'remedy' in result
}
