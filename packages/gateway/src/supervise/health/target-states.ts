import type { Plan, ServicePlan, TargetPlan, UpstreamPlan } from '@sluice/config'
import { messageOf } from '@sluice/core'
import type { OperationLog } from '../../telemetry/operation-log.js'
import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'
import type { TargetOutage } from '../../worker/messages.js'
import type { ServiceStatus } from '../services/watched-service.js'
import { CheckedTarget, type Health } from './checked-target.js'
import type { DrainedFile, DrainedTarget } from './drained-file.js'
import { createHealthCheck } from './health-check.js'

/** Status of a target as the supervisor knows it. */
export interface TargetStatus {
  /** Origin of the target, as in the metrics. */
  readonly origin: string
  /** `unchecked`: no health checks. `unknown`: no check has finished yet; counts as healthy. */
  readonly health: Health | 'unchecked'
  /** Reason why the last check failed, or why the pods of a Service are unknown; null if there is none. */
  readonly problem: string | null
  /** Time of the last check, ISO 8601. */
  readonly checkedAt: string | null
  readonly drained: boolean
  /** Number of pods receiving requests if the target is a Kubernetes Service; otherwise absent. */
  readonly endpoints?: number
}

/** Request to drain targets or to return them to service. */
export interface DrainRequest {
  readonly upstream: string
  /** Target to change, or null for all targets of the upstream. */
  readonly target: string | null
  readonly isDrained: boolean
  readonly actor: string
}

interface TargetStatesDependencies {
  /** Sends the outages to the workers. Resolves when they have applied them, or after a timeout. */
  readonly publish: (outages: readonly TargetOutage[]) => Promise<void>
  /** File in which drained targets survive the supervisor. */
  readonly drained: Pick<DrainedFile, 'read' | 'save'>
  readonly log: OperationLog
  /** Returns the status of a Service, or null if unknown. */
  readonly serviceOf: (service: ServicePlan) => ServiceStatus | null
}

interface KnownTarget {
  readonly upstream: string
  readonly origin: string
  /** URL as written in the document. */
  readonly url: string
  isDrained: boolean
  /** Kubernetes Service whose pods it stands for, or null. */
  service: ServicePlan | null
  checked: CheckedTarget | null
  /** Settings of the current check, as JSON. */
  settings: string
}

/** Targets of the active plan: drained by an operator, and health check results. */
export class TargetStates {
  readonly #dependencies: TargetStatesDependencies
  #targets = new Map<string, KnownTarget>()
  /** Targets drained before this start; empty once the first plan is active. */
  #wasDrained: ReadonlySet<string>

  /** Sends targets drained earlier to the first workers at once. */
  constructor(dependencies: TargetStatesDependencies) {
    this.#dependencies = dependencies
    const drained = dependencies.drained.read()
    this.#wasDrained = new Set(drained.map(keyOf))
    if (drained.length === 0) return
    const outages = drained.map(({ upstream, origin }) => ({ upstream, target: origin }))
    void dependencies.publish(outages.map((outage) => ({ ...outage, isDrained: true, isHealthy: true })))
  }

  /** Activates a plan with resolved references. Targets that were in the previous plan keep their state. */
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
    // The readiness probes of pods decide which ones receive requests.
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

  /** Returns the targets of an upstream in plan order. */
  of(upstream: string): readonly TargetStatus[] {
    const own = [...this.#targets.values()].filter((target) => target.upstream === upstream)
    return own.map((target) => this.#statusOf(target))
  }

  #statusOf({ origin, isDrained, checked, service }: KnownTarget): TargetStatus {
    const known = service === null ? null : this.#dependencies.serviceOf(service)
    return {
      origin,
      health: checked?.health ?? 'unchecked',
      problem: checked?.problem ?? known?.problem ?? null,
      checkedAt: checked?.checkedAt?.toISOString() ?? null,
      drained: isDrained,
      ...(service === null ? {} : { endpoints: known?.endpoints.length ?? 0 }),
    }
  }

  /**
   * Drains targets or returns them to service. Resolves when the workers have applied it, or with false if
   * there is no such upstream or target.
   */
  async drain({ upstream, target, isDrained, actor }: DrainRequest): Promise<boolean> {
    const meant = [...this.#targets.values()].filter(
      (known) =>
        known.upstream === upstream && (target === null || known.origin === target || known.url === target),
    )
    if (meant.length === 0) return false
    for (const known of meant) known.isDrained = isDrained
    const targets = meant.map(({ origin }) => origin)
    this.#keepDrained()
    this.#dependencies.log.info(isDrained ? 'target.drained' : 'target.undrained', {
      upstream,
      targets,
      actor,
    })
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
    const { log } = this.#dependencies
    if (checked?.health === 'unhealthy') {
      log.warn('target.unhealthy', { upstream, target: origin, reason: checked.problem })
    } else log.info('target.healthy', { upstream, target: origin })
    void this.#publish()
  }

  /** Saves the drained targets. A full disk loses the record for the next supervisor, not the drain. */
  #keepDrained(): void {
    try {
      this.#dependencies.drained.save([...this.#targets.values()].filter(({ isDrained }) => isDrained))
    } catch (error) {
      const reason = messageOf(error)
      this.#dependencies.log.warn('target.drain-not-kept', {
        reason,
        remedy: 'free disk space in the data directory',
      })
    }
  }

  #publish(): Promise<void> {
    const outages: TargetOutage[] = []
    for (const { upstream, origin, isDrained, checked } of this.#targets.values()) {
      const isHealthy = checked?.health !== 'unhealthy'
      if (isDrained || !isHealthy) outages.push({ upstream, target: origin, isDrained, isHealthy })
    }
    return this.#dependencies.publish(outages)
  }
}

function keyOf({ upstream, origin }: DrainedTarget): string {
  return JSON.stringify([upstream, origin])
}
