import type { Diagnostic, PlanChange } from '@sluice/config'
import type { Origin, RollbackTarget } from './deploy-history.js'
import type { Objection } from './rollout.js'

/** Called when all workers have prepared a bundle. True activates it; false discards it. */
export type ConfirmActivation = (accepted: Accepted) => Promise<boolean>

/** Options for applying a document. */
export interface ApplyRequest {
  /** True to report the changes without applying them. */
  readonly dryRun: boolean
  /** Digest that must be active now, otherwise nothing is applied; null skips this check. */
  readonly ifMatch: string | null
  readonly note: string
  readonly origin: Origin
  /** Caller: a token's id, a signal, or `file`. */
  readonly actor: string
  /** True to replace the configuration of the controller until its next deploy or a restart. */
  readonly force?: boolean
  /** True to also write the document to the gateway's file, so that it survives a restart. */
  readonly save?: boolean
  /** Id of the earlier deploy whose document this is; absent unless it is a rollback. */
  readonly rollbackTo?: string
  /** Called after preparing and before activating; absent to activate right away. */
  readonly confirm?: ConfirmActivation
}

/** Result of applying a document. Except for `applied`, the previous configuration stays active. */
export type ApplyResult =
  | ({ readonly result: 'applied' | 'unchanged' | 'valid' | 'prepared' } & Accepted)
  | { readonly result: 'invalid'; readonly diagnostics: readonly Diagnostic[] }
  /** Worker 0 stands for the supervisor itself. */
  | { readonly result: 'rolled-back'; readonly digest: string | null; readonly reasons: readonly Objection[] }
  | { readonly result: 'stale'; readonly digest: string | null }
  | { readonly result: 'busy' | 'draining' }
  /** The configuration comes from a controller. */
  | { readonly result: 'controlled'; readonly group: string }

/** Details of a valid document. */
export interface Accepted {
  readonly digest: string
  readonly changes: readonly PlanChange[]
  readonly warnings: readonly Diagnostic[]
  /** With `save`: true if the gateway's file now holds the document. */
  readonly isSaved?: boolean
  /** Reason why the document was not saved. */
  readonly notSaved?: string
  /** Deploy whose document was applied again; absent unless it is a rollback. */
  readonly rollback?: Omit<RollbackTarget, 'name' | 'text'>
}

/** The most recent attempt to apply a document, for operators. */
export interface RolloutReport {
  /** Start time, ISO 8601. */
  readonly at: string
  /**
   * `invalid`: the document has errors. `rolled-back`: a worker could not prepare it. `unchanged`: after one
   * of these two, a document equal to the active one was applied.
   */
  readonly result: 'applied' | 'unchanged' | 'rolled-back' | 'invalid'
  /** Digest of the document, or null if it is invalid. */
  readonly digest: string | null
  readonly origin: Origin
  readonly actor: string
  readonly note: string
  readonly durationMs: number
  /** The first errors of an invalid document, one line each. */
  readonly mistakes: readonly string[]
  readonly reasons: readonly Objection[]
}
