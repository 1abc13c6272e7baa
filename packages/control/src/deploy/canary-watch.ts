import type { MemberTotals } from '@sluice/control-client'
import { quantile } from '@sluice/core/traffic-rates'
import type { Deploy, Group } from '../state/control-state.js'
import type { CanaryFigures, CanaryMember, CanaryProgress, Comparison } from '../store/canary.js'
import { checkTerms, parseAbortCondition } from './abort-condition.js'
import type { KnownMember } from './fleet.js'
import type { Clock } from './member-session.js'

/** Decision about a canary. */
export type CanaryVerdict =
  | { readonly kind: 'wait' | 'activated' }
  | { readonly kind: 'passed'; readonly comparison: Comparison }
  | { readonly kind: 'abort'; readonly reasons: readonly string[] }

/** A member with counters. */
interface Counted extends KnownMember {
  readonly state: KnownMember['state'] & { readonly totals: MemberTotals }
}

/** Compares the canaries of a deploy with the other members of the group. Each controller does so for itself. */
export class CanaryWatch {
  readonly #clock: Clock
  readonly #deadlineMs: number
  /** Counters by member at the begin of the comparison. */
  readonly #baselines = new Map<string, MemberTotals>()
  #observedMs: number | null = null
  progress: CanaryProgress | null = null

  constructor({ deadlineMs }: Deploy, clock: Clock) {
    this.#clock = clock
    this.#deadlineMs = clock.steadyMs() + deadlineMs
  }

  /** Compares the canaries of a deploy with the others. Returns the decision, and sets `progress`. */
  advance(deploy: Deploy, members: readonly KnownMember[]): CanaryVerdict {
    const { members: chosen, phase, abortOn, forMs, observedFrom, comparison: result } = deploy.canary!
    const ids = new Set(chosen.map(({ member }) => member))
    const group = members.filter((one) => one.group === deploy.group && one.isConnected)
    const serving = group.filter((one) => ids.has(one.member) && one.state.digest === deploy.digest)
    const canary = this.#figures(serving)
    const others = phase === 'activating' ? NO_TRAFFIC : this.#figures(group.filter(isOther(ids, deploy)))
    const { violated, notChecked } = checkTerms(parseAbortCondition(abortOn).terms, canary, others)
    const comparison = result ?? { canary, others, notChecked }
    const now = this.#clock.steadyMs()
    const isObserving = phase === 'observing'
    if (isObserving) this.#observedMs ??= now
    const elapsedMs = observedFrom === null ? 0 : this.#clock.wallMs() - Date.parse(observedFrom)
    this.progress = {
      ...{ deploy: deploy.deploy, phase, members: chosen.map(({ name }) => name), connected: group.length },
      ...{ abortOn, leftMs: isObserving ? Math.min(forMs, Math.max(0, forMs - elapsedMs)) : null },
      ...comparison,
    }
    const problems = chosen.flatMap((one) => problemOf(one, deploy, group) ?? [])
    const isActive = canary.gateways === chosen.length
    if (problems.length > 0) return { kind: 'abort', reasons: problems }
    if (phase === 'activating' && isActive) return { kind: 'activated' }
    if (phase === 'activating' && now >= this.#deadlineMs)
      return { kind: 'abort', reasons: ['the canaries did not activate the bundle in time'] }
    if (!isObserving) return { kind: 'wait' }
    if (violated.length > 0) return { kind: 'abort', reasons: violated }
    return now - this.#observedMs! >= forMs ? { kind: 'passed', comparison } : { kind: 'wait' }
  }

  /** Returns the traffic of members since the baselines. Members without a baseline get one. */
  #figures(members: readonly KnownMember[]): CanaryFigures {
    const counted = members.filter((one): one is Counted => one.state.totals !== undefined)
    const bounds = counted[0]?.state.totals.bounds ?? []
    const buckets = Array.from({ length: bounds.length + 1 }, () => 0)
    let responses = 0
    let errors = 0
    for (const { member, state } of counted) {
      const { totals } = state
      const known = this.#baselines.get(member)
      // Counters of a restarted gateway begin again.
      const base = known === undefined || known.responses > totals.responses ? totals : known
      this.#baselines.set(member, base)
      responses += totals.responses - base.responses
      errors += Math.max(0, totals.errors - base.errors)
      for (const i of buckets.keys())
        buckets[i]! += Math.max(0, (totals.buckets[i] ?? 0) - (base.buckets[i] ?? 0))
    }
    return {
      ...{ gateways: counted.length, responses, errors: responses === 0 ? null : errors / responses },
      ...{ p50Ms: quantile(0.5, buckets, bounds), p99Ms: quantile(0.99, buckets, bounds) },
    }
  }
}

const NO_TRAFFIC: CanaryFigures = { gateways: 0, responses: 0, errors: null, p50Ms: null, p99Ms: null }

function isOther(canaries: ReadonlySet<string>, { digest }: Deploy) {
  return ({ member, state }: KnownMember): boolean => !canaries.has(member) && state.digest !== digest
}

/** Returns the reason why a canary makes the deploy fail, or null. */
function problemOf({ member, name }: CanaryMember, deploy: Deploy, connected: readonly KnownMember[]) {
  const known = connected.find((one) => one.member === member)
  if (known === undefined) return `${name} is a canary and has disconnected`
  const { digest, drift, isReady, reason } = known.state
  if (known.driftReason !== null) return `${name} refused: ${known.driftReason}`
  if (digest === deploy.digest && !isReady) return `${name} is not ready: ${reason ?? 'no reason given'}`
  const isReplaced = drift !== undefined || (digest !== deploy.digest && deploy.canary!.observedFrom !== null)
  return isReplaced ? `${name} serves another configuration: ${drift ?? 'another bundle'}` : null
}

/**
 * Returns the canaries of a group: the first ones by name that serve the committed bundle. Returns the reason as a text
 * if there are too few members.
 */
export function chooseCanaries(
  { head, name: group }: Group,
  members: readonly KnownMember[],
  size: string,
): CanaryMember[] | string {
  if (head === null)
    return `the group '${group}' has no bundle that canaries could return to; deploy without a canary first`
  const connected = members.filter((one) => one.group === group && one.isConnected)
  const number = Number.parseInt(size, 10)
  const wanted = size.endsWith('%') ? Math.max(1, Math.floor((connected.length * number) / 100)) : number
  if (wanted >= connected.length)
    return `a canary of ${size} needs other gateways to compare with, but the group '${group}' has ${countOf(connected.length, 'connected gateway', 'connected gateways')}`
  const fit = connected.filter(({ state: { digest, drift, isReady, totals }, driftReason }) => {
    const isInSync = digest === head.digest && drift === undefined && driftReason === null
    return isInSync && isReady && totals !== undefined
  })
  if (fit.length < wanted)
    return `${countOf(wanted, 'canary is', 'canaries are')} required, but only ${fit.length} of ${connected.length} gateways are ready, serve the committed bundle and report counters`
  return fit
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.member < b.member ? -1 : 1))
    .slice(0, wanted)
    .map(({ member, name }) => ({ member, name }))
}

function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
