import { resolve } from 'node:path'
import type { DocumentSource } from '@sluice/config'
import type { OperationLog } from '../telemetry/operation-log.js'
import type { ControllerLink } from './control/controller-link.js'
import type { Documents } from './documents/documents.js'
import type { FleetFile } from './fleet-file.js'
import { replacedPid } from './parent/parent-link.js'
import type { ApplyRequest, ApplyResult } from './rollout/apply-result.js'
import type { LastGoodFile } from './rollout/last-good.js'
import { isDocumentAtFault, StartError, startError } from './start-error.js'

/** Time for the controller to send another bundle than one that cannot be used, in milliseconds. */
const REPAIR_MS = 60_000

/** Options of `serveFirstDocument`. */
export interface FirstDocumentOptions {
  readonly apply: (document: DocumentSource, request: Partial<ApplyRequest>) => Promise<ApplyResult>
  readonly controller: Pick<ControllerLink, 'configure' | 'connect' | 'noteFallback' | 'group'>
  readonly fleetFile: Pick<FleetFile, 'wasDeployed'>
  readonly lastGood: LastGoodFile
  readonly documents: Pick<Documents, 'describe'>
  /** Returns the reason why workers cannot start, or null. */
  readonly failure: () => string | null
  /** Waits until a document is active. Resolves with false if the gateway stops before, or at the deadline. */
  readonly untilServing: (deadlineMs?: number) => Promise<boolean>
  readonly log: OperationLog
}

/**
 * Applies the document that a starting gateway serves, the first of these:
 * 1. the document that was deployed to a supervisor that was killed,
 * 2. the active bundle of the controller, or if it cannot be used, the one before,
 * 3. the start document, or if it is broken, the last valid one,
 * 4. the first bundle that the controller sends.
 * In an upgrade, a refused deployed document or bundle is an error, because the version before serves it.
 * @param source start document, or null if there is only a controller
 * @throws StartError if none can be applied
 */
export async function serveFirstDocument(
  source: DocumentSource | null,
  options: FirstDocumentOptions,
): Promise<void> {
  const { apply, controller, lastGood } = options
  if (source !== null) lastGood.startedWith = resolve(source.name)
  const bundles = await controller.configure(source)
  if (await resumeDeployed(options)) return
  const problem = await serveBundle(bundles, options)
  if (problem === null) return
  if (problem !== 'none') return awaitBundle(options, problem)
  if (source === null) return awaitBundle(options, null)
  const result = await apply(source, { origin: 'file', actor: 'start' })
  if (result.result !== 'applied') await startWithLastGood(result, options)
}

/** Restores the deployed document of a killed supervisor, rather than the older one on disk. */
async function resumeDeployed(options: FirstDocumentOptions): Promise<boolean> {
  const { apply, fleetFile, lastGood, documents } = options
  const last = fleetFile.wasDeployed ? lastGood.read() : null
  if (last === null) return false
  const { name, text } = last
  const result = await apply({ name, text }, { origin: 'api', actor: 'restart', force: true })
  if (result.result === 'applied') return true
  if (replacedPid() !== null) throw startError(result, documents.describe)
  return false
}

/** Serves the first of the controller's bundles that can be used. Returns null, or the error of the last one. */
async function serveBundle(
  bundles: readonly DocumentSource[],
  options: FirstDocumentOptions,
): Promise<StartError | null | 'none'> {
  const { apply, controller, documents, failure, log } = options
  let problem: StartError | 'none' = 'none'
  for (const bundle of bundles) {
    const result = await apply(bundle, { origin: 'control', actor: 'start' })
    if (result.result === 'applied') return null
    problem = startError(result, documents.describe)
    if (!isDocumentAtFault(result) || failure() !== null || replacedPid() !== null) throw problem
    controller.noteFallback(`the active bundle cannot be used: ${problem.message}`)
    log.error('start.bundle-refused', { document: bundle.name, because: problem.message })
  }
  return problem
}

/**
 * Waits until the controller has sent a bundle that can be used.
 * @param problem error of the bundles on the disk. The gateway then stops after a while, so that the process manager
 * tries again. Null to wait for the first bundle for ever.
 */
async function awaitBundle(options: FirstDocumentOptions, problem: StartError | null): Promise<void> {
  const { controller, failure, untilServing, log } = options
  const because = 'there is no usable bundle of the controller; the gateway does not listen until one arrives'
  log.warn('start.waiting', { group: controller.group, because })
  controller.connect()
  if (await untilServing(problem === null ? undefined : REPAIR_MS)) return
  throw problem ?? new StartError(failure() ?? 'the gateway was stopped')
}

/** Falls back to the last valid document when the document is broken or the workers refuse it. */
async function startWithLastGood(first: ApplyResult, options: FirstDocumentOptions): Promise<void> {
  const { apply, lastGood, documents, failure, log } = options
  const error = startError(first, documents.describe)
  const mayHelp = isDocumentAtFault(first) && failure() === null
  const last = mayHelp ? lastGood.read() : null
  if (last === null) throw error
  const { name, text, digest } = last
  log.error('start.last-good', {
    digest,
    document: name,
    because: error.message,
    remedy: 'correct the document',
  })
  const second = await apply({ name, text }, { origin: 'last-good', actor: 'start' })
  if (second.result !== 'applied') throw error
}
