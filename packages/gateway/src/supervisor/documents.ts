import type { Diagnostic, Load, Plan, PlanChange } from '@sluice/config'
import type { Source } from './document-source.js'

/** What a document means, or everything that is wrong with it. */
export type LoadOutcome =
  | { readonly ok: true; readonly load: Load; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/** What the supervisor asks of the configuration language; it knows nothing else about documents. */
export interface Documents {
  /** References are resolved anew each time. */
  load(source: Source): LoadOutcome | Promise<LoadOutcome>
  /** The plan with every secret replaced. */
  display(plan: Plan): Plan
  changes(before: Plan | null, after: Plan): readonly PlanChange[]
  /** One line, `F:line:column: message (remedy)`. */
  describe(diagnostic: Diagnostic): string
}

/** Whether two loads mean the same: the digest covers the plan, the values may have changed behind its references. */
export function isSameLoad(a: Load, b: Load): boolean {
  if (a.digest !== b.digest) return false
  const names = Object.keys(a.values)
  return names.length === Object.keys(b.values).length && names.every((name) => a.values[name] === b.values[name])
}
