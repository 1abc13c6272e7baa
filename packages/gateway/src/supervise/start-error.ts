import type { Diagnostic } from '@sluice/config'
import type { ApplyResult } from './rollout/apply-result.js'

/** Error thrown when a gateway cannot start. */
export class StartError extends Error {
  /** Errors in the document; empty if the cause lies elsewhere. */
  readonly diagnostics: readonly Diagnostic[]
  /** True if the gateway was asked to stop while starting, which is not a failure. */
  readonly isStopped: boolean

  constructor(message: string, diagnostics: readonly Diagnostic[] = [], isStopped = false) {
    super(message)
    this.name = 'StartError'
    this.diagnostics = diagnostics
    this.isStopped = isStopped
  }
}

/** Returns true if another document might start. An address in use, for example, would stay in use. */
export function isDocumentAtFault(result: ApplyResult): boolean {
  if (result.result === 'invalid') return true
  return result.result === 'rolled-back' && result.reasons.some(({ worker }) => worker !== 0)
}

/** Turns the first rollout's result into an error, with one line per problem or worker. */
export function startError(result: ApplyResult, describe: (diagnostic: Diagnostic) => string): StartError {
  if (result.result === 'invalid')
    return new StartError(result.diagnostics.map(describe).join('\n'), result.diagnostics)
  if (result.result !== 'rolled-back') return new StartError(`the gateway could not start: ${result.result}`)
  const reasons = result.reasons.map(({ worker, reason }) =>
    worker === 0 ? reason : `worker ${worker}: ${reason}`,
  )
  return new StartError(reasons.join('\n'))
}
