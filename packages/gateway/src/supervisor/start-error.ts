import type { Diagnostic } from '@sluice/config'
import type { ApplyResult } from './apply-result.js'

/** Why a gateway cannot start. */
export class StartError extends Error {
  /** What is wrong with the document; empty when something else is the matter. */
  readonly diagnostics: readonly Diagnostic[]
  /** Somebody asked for the end before it had begun: nothing is wrong. */
  readonly isStopped: boolean

  constructor(message: string, diagnostics: readonly Diagnostic[] = [], isStopped = false) {
    super(message)
    this.name = 'StartError'
    this.diagnostics = diagnostics
    this.isStopped = isStopped
  }
}

/** Whether another document could start where this one did not; an address in use would not change. */
export function isDocumentAtFault(result: ApplyResult): boolean {
  if (result.result === 'invalid') return true
  return result.result === 'rolled-back' && result.reasons.some(({ worker }) => worker !== 0)
}

/** The first rollout's result as the reason for not starting: one line a mistake, or one a worker. */
export function startError(result: ApplyResult, describe: (diagnostic: Diagnostic) => string): StartError {
  if (result.result === 'invalid') {
    return new StartError(result.diagnostics.map(describe).join('\n'), result.diagnostics)
  }
  if (result.result !== 'rolled-back') return new StartError(`the start ended ${result.result}`)
  const reasons = result.reasons.map(({ worker, reason }) =>
    worker === 0 ? reason : `worker ${worker}: ${reason}`,
  )
  return new StartError(reasons.join('\n'))
}
