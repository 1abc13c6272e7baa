import type { Diagnostic } from '@sluice/config'

/** Why a gateway cannot start. */
export class StartError extends Error {
  /** What is wrong with the document; empty when something else is the matter. */
  readonly diagnostics: readonly Diagnostic[]

  constructor(message: string, diagnostics: readonly Diagnostic[] = []) {
    super(message)
    this.name = 'StartError'
    this.diagnostics = diagnostics
  }
}
