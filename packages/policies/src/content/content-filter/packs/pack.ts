/** Rule of a pack. Its pattern expects text without comments and with single spaces, and ignores case. */
interface PackRule {
  readonly name: string
  readonly pattern: string
  /** Score: 5 for a clear attack, 3 for text that is more frequent in attacks than elsewhere. */
  readonly score: 3 | 5
}

/** Rules against one kind of attack. The rules of a released version never change. */
export interface Pack {
  readonly version: number
  readonly rules: readonly PackRule[]
}
