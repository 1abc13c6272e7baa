import { COMMAND_INJECTION } from './command-injection.js'
import type { Pack } from './pack.js'
import { PATH_TRAVERSAL } from './path-traversal.js'
import { SQLI } from './sqli.js'
import { XSS } from './xss.js'

/** Built-in packs. A name with a version is stable, a name without one is the latest version. */
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

/** Name of a pack, with or without a version. */
export type PackName = keyof typeof PACKS
