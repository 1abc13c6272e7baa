import type { ConfigBundle, Diagnostic, DocumentSource, Plan } from '@sluice/config'
import type { VaultReading } from '../vault/vault-secrets.js'
import type { BundleQuestion, CheckResult } from './document-checks.js'

/** JSON text that answers a question about documents, or the reason why there is none. */
export type DocumentAnswer =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly isBusy: boolean; readonly problem: string }

/** A checked document, and its secrets from Vault if it has some. */
export type LoadedResult = CheckResult & { readonly vault?: VaultReading | null }

/** The supervisor's only interface to the configuration language. */
export interface Documents {
  /**
   * Loads a document and resolves its references again.
   * @param serving active bundle to compare with, or null.
   */
  load(source: DocumentSource, serving: ConfigBundle | null): Promise<LoadedResult>
  resolve(bundle: ConfigBundle): Plan
  /** Returns the plan with all secrets masked. */
  display(bundle: ConfigBundle): Promise<Plan>
  /** Answers a question about a bundle. Secrets are masked. */
  ask(question: BundleQuestion): Promise<DocumentAnswer>
  /** Returns the changes between two documents. Secrets are masked. */
  compare(before: DocumentSource, after: DocumentSource): Promise<DocumentAnswer>
  /** Formats a diagnostic as one line: `F:line:column: message (remedy)`. */
  describe(diagnostic: Diagnostic): string
}

/** Returns true if a bundle contains a value of a reference, possibly escaped for JSON. */
export function hasReference({ values }: ConfigBundle, reference: string): boolean {
  return Object.hasOwn(values, reference) || Object.hasOwn(values, `${reference.slice(0, -1)}|json}`)
}

/** Returns true if two bundles are equivalent: same plan digest and same values behind its references. */
export function isSameBundle(a: ConfigBundle, b: ConfigBundle): boolean {
  if (a.digest !== b.digest) return false
  const names = Object.keys(a.values)
  return (
    names.length === Object.keys(b.values).length && names.every((name) => a.values[name] === b.values[name])
  )
}
