import type { HashKey, UpstreamPlan } from '@sluice/config'
import type { Exchange } from '@sluice/core'
import { type Balancer, createBalancer } from './balancer.js'
import type { Canary } from './canary.js'
import { requestKey } from './request-key.js'
import { StickySessions } from './sticky-sessions.js'
import type { Target } from './target.js'

/** Targets used alike: the primaries, or the failover targets of one priority. */
class Level {
  readonly #targets: readonly Target[]
  readonly #balancer: Balancer
  readonly #weight: number
  #owed = 0

  constructor(targets: readonly Target[], balance: UpstreamPlan['balance']) {
    this.#targets = targets
    this.#balancer = createBalancer(balance, targets)
    this.#weight = weightOf(targets)
  }

  pick(tried: readonly Target[], key: string | null): Target | null {
    return this.#balancer.pick(tried, key)
  }

  /**
   * Returns true if the next request goes to the following level. If 25 % of the targets are available and the limit is
   * 50 %, half of the requests spill over, evenly spaced.
   */
  spills(below: number): boolean {
    const share = weightOf(this.#targets.filter(({ isAvailable }) => isAvailable)) / this.#weight
    if (share >= below) return false
    this.#owed += 1 - share / below
    if (this.#owed < 1) return false
    this.#owed -= 1
    return true
  }
}

/**
 * Selects the target of an attempt:
 *
 *     asks for the canary ─► session ─► key of the canary ─► primaries ─► failover targets by priority
 *
 * Targets that are unavailable or already tried are skipped.
 */
export class TargetSelection {
  readonly #levels: readonly Level[]
  readonly #failoverBelow: number
  readonly #hashOn: HashKey | null
  readonly #canary: Canary | null
  readonly #canaries: Level | null
  readonly sticky: StickySessions | null

  /** @param targets targets with a weight, without mirrors. */
  constructor(plan: UpstreamPlan, targets: readonly Target[], canary: Canary | null) {
    const canaries = targets.filter(({ role }) => role === 'canary')
    const others = targets.filter(({ role }) => role !== 'canary')
    const numbers = [...new Set(others.map(({ level }) => level))].sort((a, b) => a - b)
    this.#levels = numbers.map(
      (number) =>
        new Level(
          others.filter(({ level }) => level === number),
          plan.balance,
        ),
    )
    this.#failoverBelow = plan.failoverBelow
    this.#hashOn = plan.balance === 'hash' ? plan.hashOn : null
    this.#canary = canaries.length === 0 ? null : canary
    this.#canaries = canaries.length === 0 ? null : new Level(canaries, plan.balance)
    this.sticky = plan.sticky === null ? null : new StickySessions(plan.sticky, plan.name, targets)
  }

  /** Returns the next target to try, or null if there is none. */
  chooseTarget(x: Exchange, tried: readonly Target[]): Target | null {
    const key = this.#hashOn === null ? null : requestKey(x, this.#hashOn)
    if (tried.length > 0) return this.#pickFrom(0, tried, key)
    return this.#chooseCanary(x, key) ?? this.#pickFrom(this.#firstLevel(), tried, key)
  }

  /** Selects the canary or the session's target. The session ranks between the two ways to the canary. */
  #chooseCanary(x: Exchange, key: string | null): Target | null {
    const canary = this.#canary
    const isAskedFor = canary?.isAskedFor(x) === true
    if (!isAskedFor) {
      const target = this.sticky?.findTarget(x) ?? null
      const isAborted = target?.role === 'canary' && canary?.isAborted === true
      if (target?.isAvailable === true && !isAborted) return target
    }
    if (isAskedFor || canary?.takesKey(x) === true) return this.#canaries!.pick([], key)
    return null
  }

  #firstLevel(): number {
    let number = 0
    if (this.#failoverBelow === 0) return number
    while (number < this.#levels.length - 1 && this.#levels[number]!.spills(this.#failoverBelow)) number++
    return number
  }

  /** Selects a target from this level or a later one, then from the earlier ones. */
  #pickFrom(number: number, tried: readonly Target[], key: string | null): Target | null {
    const count = this.#levels.length
    for (let i = 0; i < count; i++) {
      const target = this.#levels[(number + i) % count]!.pick(tried, key)
      if (target !== null) return target
    }
    return null
  }
}

function weightOf(targets: readonly Target[]): number {
  return targets.reduce((sum, { weight }) => sum + weight, 0)
}
