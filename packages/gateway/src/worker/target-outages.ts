import type { KnownState } from '../upstream/state/target-state.js'
import type { Upstream } from '../upstream/upstream.js'
import type { TargetOutage } from './messages.js'

const NONE: KnownState = { isDrained: false, isHealthy: true }

/** Drained and unhealthy targets, as last reported by the supervisor. */
export class TargetOutages {
  #byTarget = new Map<string, KnownState>()

  /** Replaces all known outages. */
  set(outages: readonly TargetOutage[]): void {
    this.#byTarget = new Map(outages.map((outage) => [keyOf(outage.upstream, outage.target), outage]))
  }

  /** Applies the outages to an upstream's targets. */
  applyTo({ name, targets }: Upstream): void {
    for (const { origin, state } of targets) state.learn(this.#byTarget.get(keyOf(name, origin)) ?? NONE)
  }
}

function keyOf(upstream: string, target: string): string {
  return `${upstream} ${target}`
}
