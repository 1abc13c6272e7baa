import type { Plan, ServicePlan, TargetPlan, UpstreamPlan } from '@sluice/config'
import type { ServiceStatus } from '../../kubernetes/watched-service.js'
import type { OperationLog } from '../../telemetry/operation-log.js'
import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'
import type { TargetOutage } from '../../worker/messages.js'
import { CheckedTarget, type Health } from './checked-target.js'
import type { DrainedFile, DrainedTarget } from './drained-file.js'
import { createHealthCheck } from './health-check.js'

/** What the gateway knows of a target, beside what its workers see. */
export interface TargetStatus {
  /** As the metrics name it. */
  readonly origin: string
  /** `unchecked`: there are no health checks; `unknown`: none has ended yet, and it counts as healthy. */
  readonly health: Health | 'unchecked'
  /** Why the last check failed, or the pods of a Service are not known. */
  readonly problem: string | null
  /** ISO 8601. */
  readonly checkedAt: string | null
  readonly drained: boolean
  /** Of a Service of Kubernetes: how many pods get requests; absent: the target is none. */
  readonly endpoints?: number
}

/** Targets that are taken out of service, or back. */
export interface DrainRequest {
  readonly upstream: string
  /** Null: all of the upstream. */
  readonly target: string | null
  readonly isDrained: boolean
  readonly actor: string
}

/** How the states of targets come to the workers. */
export interface TargetStatesSeams {
  /** Resolves when the workers have taken it over, or did not answer in time. */
  readonly publish: (outages: readonly TargetOutage[]) => Promise<void>
  /** Where those that are drained outlive the supervisor. */
  readonly drained: Pick<DrainedFile, 'read' | 'save'>
  readonly log: OperationLog
  /** What is known of a Service; null: nothing. */
  readonly serviceOf: (service: ServicePlan) => ServiceStatus | null
}

interface KnownTarget {
  readonly upstream: string
  readonly origin: string
  /** As the document names it. */
  readonly url: string
  isDrained: boolean
  /** Whose pods it stands for; null: for none. */
  service: ServicePlan | null
  checked: CheckedTarget | null
  /** What the check was made of. */
  settings: string
}

/** The targets of the plan that serves: which an operator has drained, and what the health checks say. */
export class TargetStates {
  readonly #seams: TargetStatesSeams
  #targets = new Map<string, KnownTarget>()
  /** Drained before this start, until the first plan serves. */
  #wasDrained: ReadonlySet<string>

  /** Has the first workers know at once what was drained before. */
  constructor(seams: TargetStatesSeams) {
    this.#seams = seams
    const drained = seams.drained.read()
    this.#wasDrained = new Set(drained.map(keyOf))
    if (drained.length === 0) return
    const outages = drained.map(({ upstream, origin }) => ({ upstream, target: origin }))
    void seams.publish(outages.map((outage) => ({ ...outage, isDrained: true, isHealthy: true })))
  }

  /** A plan serves from now on, its references resolved. A target that it shares with the one before keeps its state. */
  serve(plan: Plan): void {
    const targets = new Map<string, KnownTarget>()
    for (const upstream of plan.upstreams) {
      for (const plan of upstream.targets) {
        const target = this.#targetOf(upstream, plan)
        targets.set(keyOf(target), target)
      }
    }
    for (const [key, target] of this.#targets) if (!targets.has(key)) target.checked?.stop()
    this.#targets = targets
    this.#wasDrained = new Set()
    this.#keepDrained()
    void this.#publish()
  }

  #targetOf(upstream: UpstreamPlan, { url, service: named }: TargetPlan): KnownTarget {
    const service = named ?? null
    const origin = new URL(url).origin
    const name = { upstream: upstream.name, origin }
    const isDrained = this.#wasDrained.has(keyOf(name))
    const fresh: KnownTarget = { ...name, url, isDrained, service, checked: null, settings: '' }
    const target = this.#targets.get(keyOf(name)) ?? fresh
    target.service = service
    const { tls, http2, proxy } = upstream
    // Whether a pod gets requests is for its readiness probe to say.
    const health = service === null ? upstream.health : null
    const settings = JSON.stringify([health, tls, http2, proxy])
    if (target.settings === settings) return target
    target.settings = settings
    if (health === null) {
      target.checked?.stop()
      target.checked = null
      return target
    }
    const check = createHealthCheck(upstream, health, new URL(url))
    if (target.checked === null) {
      target.checked = new CheckedTarget(health, check, () => this.#onHealth(target))
    } else target.checked.change(health, check)
    return target
  }

  /** The targets of an upstream in the order of its plan. */
  of(upstream: string): readonly TargetStatus[] {
    const own = [...this.#targets.values()].filter((target) => target.upstream === upstream)
    return own.map((target) => this.#statusOf(target))
  }

  #statusOf({ origin, isDrained, checked, service }: KnownTarget): TargetStatus {
    const known = service === null ? null : this.#seams.serviceOf(service)
    return {
      origin,
      health: checked?.health ?? 'unchecked',
      problem: checked?.problem ?? known?.problem ?? null,
      checkedAt: checked?.checkedAt?.toISOString() ?? null,
      drained: isDrained,
      ...(service === null ? {} : { endpoints: known?.endpoints.length ?? 0 }),
    }
  }

  /** Resolves when the workers know it. False: there is no such upstream or target. */
  async drain({ upstream, target, isDrained, actor }: DrainRequest): Promise<boolean> {
    const meant = [...this.#targets.values()].filter(
      (known) =>
        known.upstream === upstream && (target === null || known.origin === target || known.url === target),
    )
    if (meant.length === 0) return false
    for (const known of meant) known.isDrained = isDrained
    const targets = meant.map(({ origin }) => origin)
    this.#keepDrained()
    this.#seams.log.info(isDrained ? 'target.drained' : 'target.undrained', { upstream, targets, actor })
    await this.#publish()
    return true
  }

  samples(): Sample[] {
    return [...this.#targets.values()].flatMap(({ upstream, origin, checked }) => {
      if (checked === null) return []
      const labels = `${label('upstream', upstream)},${label('target', origin)}`
      const isHealthy = checked.health === 'unhealthy' ? 0 : 1
      const checks = Object.entries(checked.counts).map(([result, value]) => ({
        name: 'gw_upstream_health_checks_total',
        labels: `${labels},${label('result', result)}`,
        value,
      }))
      return [{ name: 'gw_upstream_target_healthy', labels, value: isHealthy }, ...checks]
    })
  }

  close(): void {
    for (const { checked } of this.#targets.values()) checked?.stop()
  }

  #onHealth(target: KnownTarget): void {
    const { upstream, origin, checked } = target
    const { log } = this.#seams
    if (checked?.health === 'unhealthy') {
      log.warn('target.unhealthy', { upstream, target: origin, reason: checked.problem })
    } else log.info('target.healthy', { upstream, target: origin })
    void this.#publish()
  }

  /** A disk that is full costs what the next supervisor knows, not the drain. */
  #keepDrained(): void {
    try {
      this.#seams.drained.save([...this.#targets.values()].filter(({ isDrained }) => isDrained))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#seams.log.warn('target.drain-not-kept', { reason, remedy: 'make room in the data directory' })
    }
  }

  #publish(): Promise<void> {
    const outages: TargetOutage[] = []
    for (const { upstream, origin, isDrained, checked } of this.#targets.values()) {
      const isHealthy = checked?.health !== 'unhealthy'
      if (isDrained || !isHealthy) outages.push({ upstream, target: origin, isDrained, isHealthy })
    }
    return this.#seams.publish(outages)
  }
}

function keyOf({ upstream, origin }: DrainedTarget): string {
  return JSON.stringify([upstream, origin])
}
