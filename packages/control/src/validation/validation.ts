import type { ComposeOptions, Diagnostic, PlanChange } from '@sluice/config'

/** Files of a bundle by path. */
export type BundleFiles = ReadonlyMap<string, Uint8Array>

/** Request to the validation process. */
export interface ValidationRequest {
  readonly files: BundleFiles
  /** Files of the bundle to compare with; null: none, undefined: do not compare. */
  readonly before?: BundleFiles | null
  /** Set if the files are the source of a document, which is composed first. */
  readonly compose?: Omit<ComposeOptions, 'catalog'>
}

/** Result of a validation: all errors of the document, or its warnings and changes. */
export type Validation =
  | {
      readonly ok: true
      readonly warnings: readonly Diagnostic[]
      readonly changes: readonly PlanChange[]
      /** Composed document. */
      readonly text?: string
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }
