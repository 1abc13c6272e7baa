import type { ConfigBundle, Diagnostic, DocumentSource, Plan } from '@sluice/config'
import type { CheckResult } from './document-checks.js'

/** What the supervisor asks of the configuration language; it knows nothing else about documents. */
export interface Documents {
  /**
   * References are resolved again each time.
   * @param serving what the document is compared with; null: nothing serves.
   */
  load(source: DocumentSource, serving: ConfigBundle | null): Promise<CheckResult>
  /** The plan with the values of its references. */
  resolve(bundle: ConfigBundle): Plan
  /** The plan with every secret replaced. */
  display(bundle: ConfigBundle): Promise<Plan>
  /** One line, `F:line:column: message (remedy)`. */
  describe(diagnostic: Diagnostic): string
}

/** Whether two bundles mean the same: the digest covers the plan, the values may have changed behind its references. */
export function isSameBundle(a: ConfigBundle, b: ConfigBundle): boolean {
  if (a.digest !== b.digest) return false
  const names = Object.keys(a.values)
  return (
    names.length === Object.keys(b.values).length && names.every((name) => a.values[name] === b.values[name])
  )
}
