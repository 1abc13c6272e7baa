import { COMMAND_INJECTION } from './command-injection.js'
import { PATH_TRAVERSAL } from './path-traversal.js'
import { SQLI } from './sqli.js'
import { XSS } from './xss.js'

/** The packs that come with the policy. A name with a version stays what it is, one without is the latest. */
export const PACKS = {
  sqli: SQLI,
  'sqli@1': SQLI,
  xss: XSS,
  'xss@1': XSS,
  'path-traversal': PATH_TRAVERSAL,
  'path-traversal@1': PATH_TRAVERSAL,
  'command-injection': COMMAND_INJECTION,
  'command-injection@1': COMMAND_INJECTION,
} as const satisfies Record<string, Pack>

export type PackName = keyof typeof PACKS

/** A rule of a pack. Its pattern is written for text without comments and with single spaces, without regard to case. */
interface PackRule {
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
