import { readDocumentFile } from '@sluice/config/serving'
import type { GatewayState, ManagedGateway, Outcome, PlacedBundle, Vote } from '@sluice/control-client'
import { messageOf } from '@sluice/core'
import type { Sample } from '../../telemetry/sample.js'
import type { Documents } from '../documents/documents.js'
import type { ApplyRequest, ApplyResult } from '../rollout/apply-result.js'
import type { Deployment } from '../rollout/deployment.js'
import { HeldRollout } from '../rollout/held-rollout.js'
import type { SupervisorStatus } from '../status/status.js'
import { TrafficFigures } from './traffic-figures.js'

/** Parts of the supervisor that a controller uses. */
export interface ControlledParts {
  readonly supervisor: { status(): Pick<SupervisorStatus, 'ready' | 'reason' | 'workers'> }
  readonly deployment: Pick<Deployment, 'apply' | 'adopt'>
  readonly documents: Pick<Documents, 'describe'>
  /** Returns the merged samples of the workers. */
  readonly samples: () => Promise<readonly Sample[]>
  /** Called after each order that applied a bundle. */
  readonly onApplied: () => void
  /** Returns the reason why something else than the controller's bundle is active, or null. */
  readonly drift: () => string | null
}

/** A bundle whose deploy is not decided yet. */
interface Pending {
  readonly bundle: PlacedBundle
  isDiscarded: boolean
  /** Digest of the plan; null while it is being prepared, or if it equals the active one. */
  digest: string | null
  /** Error of the disk at the activation, or null. */
  problem: string | null
}

const MAX_REASONS = 20
const MAX_REASON_CHARS = 2000

/** Carries out the orders of a controller with the rollouts of the supervisor. */
export class ControlledGateway implements ManagedGateway {
  readonly #parts: ControlledParts
  readonly #held = new HeldRollout()
  readonly #figures: TrafficFigures
  #pending: Pending | null = null

  constructor(parts: ControlledParts) {
    this.#parts = parts
    this.#figures = new TrafficFigures(parts.samples)
  }

  async prepare(bundle: PlacedBundle, holdMs: number): Promise<Vote> {
    const pending: Pending = { bundle, isDiscarded: false, digest: null, problem: null }
    this.#pending = pending
    const result = await settled(
      this.#held.prepare(
        (confirm) =>
          this.#apply(pending, async (accepted) => {
            if (pending.isDiscarded) return false
            return (await confirm(accepted)) && committed(pending)
          }),
        holdMs,
      ),
    )
    if (result.result === 'prepared') {
      pending.digest = result.digest
      return { vote: 'prepared', reasons: [] }
    }
    if (result.result === 'unchanged') return { vote: 'unchanged', reasons: [] }
    this.#pending = null
    return { vote: 'refused', reasons: this.#reasons(result) }
  }

  async activate(deploy: number): Promise<Outcome> {
    const pending = this.#pending
    if (pending?.bundle.deploy !== deploy) return { outcome: 'expired', reasons: [] }
    this.#pending = null
    if (pending.digest === null) return this.serve(pending.bundle)
    const result = await settled(this.#held.settle(pending.digest, true))
    if (result === null) return { outcome: 'expired', reasons: [] }
    return this.#outcome(pending, result)
  }

  async discard(deploy: number): Promise<void> {
    const pending = this.#pending
    if (pending?.bundle.deploy !== deploy) return
    this.#pending = null
    pending.isDiscarded = true
    if (pending.digest !== null) await settled(this.#held.settle(pending.digest, false))
  }

  async serve(bundle: PlacedBundle): Promise<Outcome> {
    const pending: Pending = { bundle, isDiscarded: false, digest: null, problem: null }
    const result = await settled(this.#apply(pending, async () => committed(pending)))
    if (result.result === 'unchanged' && committed(pending)) this.#adopt(bundle)
    return this.#outcome(pending, result)
  }

  async state(): Promise<GatewayState> {
    const { ready, reason, workers } = this.#parts.supervisor.status()
    const drift = this.#parts.drift()
    return {
      isReady: ready,
      reason,
      workers: workers.filter(({ state }) => state === 'ready').length,
      ...(await this.#figures.measure()),
      ...(drift === null ? {} : { drift: drift.slice(0, MAX_REASON_CHARS) }),
    }
  }

  async #apply({ bundle }: Pending, confirm: NonNullable<ApplyRequest['confirm']>): Promise<ApplyResult> {
    const { actor, note, documentPath } = bundle
    const request = { dryRun: false, ifMatch: null, origin: 'control', actor, note, confirm } as const
    try {
      return await this.#parts.deployment.apply(readDocumentFile(documentPath), request)
    } finally {
      this.#figures.renew()
      this.#parts.onApplied()
    }
  }

  /** Notes that the active configuration, which is the same, is now that of the bundle. */
  #adopt({ actor, note, documentPath }: PlacedBundle): void {
    this.#parts.deployment.adopt(readDocumentFile(documentPath), { origin: 'control', actor, note })
    this.#parts.onApplied()
  }

  #outcome({ problem }: Pending, result: ApplyResult | Failed): Outcome {
    if (problem !== null) return { outcome: 'refused', reasons: [`cannot store the bundle: ${problem}`] }
    if (result.result === 'applied' || result.result === 'unchanged')
      return { outcome: 'active', reasons: [] }
    return { outcome: 'refused', reasons: this.#reasons(result) }
  }

  #reasons(result: ApplyResult | Failed): string[] {
    const all = (): readonly string[] => {
      switch (result.result) {
        case 'failed':
          return [result.reason]
        case 'invalid':
          return result.diagnostics.map((one) => this.#parts.documents.describe(one))
        case 'rolled-back':
          return result.reasons.map(({ worker, reason }) =>
            worker === 0 ? reason : `worker ${worker}: ${reason}`,
          )
        case 'draining':
          return ['the gateway is draining']
        default:
          return [`the gateway is ${result.result}`]
      }
    }
    return all()
      .slice(0, MAX_REASONS)
      .map((reason) => reason.slice(0, MAX_REASON_CHARS))
  }
}

interface Failed {
  readonly result: 'failed'
  readonly reason: string
}

/** Makes a bundle the active one on the disk. Returns false if that fails. */
function committed(pending: Pending): boolean {
  try {
    pending.bundle.commit()
    return true
  } catch (error) {
    pending.problem = messageOf(error)
    return false
  }
}

/** Turns an unexpected error, such as an unreadable file, into a result. */
function settled<T>(result: Promise<T>): Promise<T | Failed> {
  return result.catch((error: unknown) => ({
    result: 'failed',
    reason: messageOf(error),
  }))
}
