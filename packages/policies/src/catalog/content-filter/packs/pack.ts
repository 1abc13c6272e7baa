/** A rule of a pack. Its pattern is written for text without comments and with single spaces, without regard to case. */
export interface PackRule {
  readonly name: string
  readonly pattern: string
  /** 5: an attack; 3: seen in attacks more than elsewhere. */
  readonly score: 3 | 5
}

/** Rules against one kind of attack. Rules of a version that was released do not change. */
export interface Pack {
  readonly version: number
  readonly rules: readonly PackRule[]
}
