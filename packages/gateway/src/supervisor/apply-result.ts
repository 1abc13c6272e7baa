import type { Diagnostic, PlanChange } from '@sluice/config'
import type { Origin } from './deploy-history.js'
import type { Agree } from './held-rollout.js'
import type { Objection } from './rollout.js'

/** How a document is to be applied. */
export interface ApplyRequest {
  /** Only says what would change. */
  readonly dryRun: boolean
  /** The digest that must serve now, else nothing is done; null: any. */
  readonly ifMatch: string | null
  readonly note: string
  readonly origin: Origin
  /** Who asks: a token's id, a signal, `file`. */
  readonly actor: string
  /** Also writes the document to the file of the gateway, so that it serves after a restart. */
  readonly save?: boolean
  /** Asked between preparing and activating; absent: nobody is. */
  readonly agree?: Agree
}

/** What came of it. In every case but `applied`, what served before goes on serving. */
export type ApplyResult =
  | ({ readonly result: 'applied' | 'unchanged' | 'valid' | 'prepared' } & Accepted)
  | { readonly result: 'invalid'; readonly diagnostics: readonly Diagnostic[] }
  /** Objections of worker 0 are those of the supervisor itself. */
  | { readonly result: 'rolled-back'; readonly digest: string | null; readonly reasons: readonly Objection[] }
  | { readonly result: 'stale'; readonly digest: string | null }
  | { readonly result: 'busy' | 'draining' }

/** The facts of a document that is in order. */
export interface Accepted {
  readonly digest: string
  readonly changes: readonly PlanChange[]
  readonly warnings: readonly Diagnostic[]
  /** With `save`: true if the file of the gateway holds the document now. */
  readonly isSaved?: boolean
  /** Reason why the document was not saved. */
  readonly notSaved?: string
}

/** The last document that was to go into service, for operators. */
export interface RolloutReport {
  /** ISO 8601. */
  readonly at: string
  /**
   * `invalid`: refused for its mistakes; `rolled-back`: a worker could not prepare it; `unchanged`: after one of these, it
   * means what serves.
   */
  readonly result: 'applied' | 'unchanged' | 'rolled-back' | 'invalid'
  /** Of the document that was rolled out; null of one that is invalid. */
  readonly digest: string | null
  readonly origin: Origin
  readonly actor: string
  readonly note: string
  readonly durationMs: number
  /** The first mistakes of an invalid document, a line each. */
  readonly mistakes: readonly string[]
  readonly reasons: readonly Objection[]
}
