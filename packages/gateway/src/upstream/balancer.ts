import type { UpstreamPlan } from '@sluice/config'
import { hashText } from './request-key.js'
import type { Target } from './target.js'

/** Selects the target of an attempt among those that are available and untried. */
export interface Balancer {
  /** @param key hash key of the exchange, or null if it has none. */
  pick(tried: readonly Target[], key: string | null): Target | null
}

/**
 * Points on the hash ring per unit of weight, and in total. The ring is rebuilt with each change of a discovered name,
 * which may have 256 addresses. 2^18 points blocked the event loop for 0.8 s, 2^15 for less than a tenth of that.
 */
const POINTS_PER_WEIGHT = 64
const MAX_POINTS = 1 << 15

/** Creates a balancer for targets with weights above 0. */
export function createBalancer(kind: UpstreamPlan['balance'], targets: readonly Target[]): Balancer {
  switch (kind) {
    case 'hash':
      return new HashRing(targets)
    case 'least-pending':
      return new LeastPending(targets)
    case 'power-of-two':
      return new PowerOfTwo(targets)
    default:
      return new RoundRobin(targets)
  }
}

/** Smooth weighted round-robin, as in nginx: targets take turns by weight, without bursts. */
export class RoundRobin implements Balancer {
  readonly #targets: readonly Target[]

  constructor(targets: readonly Target[]) {
    this.#targets = targets
  }

  pick(tried: readonly Target[]): Target | null {
    const targets = this.#targets
    let best: Target | null = null
    let total = 0
    for (let i = 0; i < targets.length; i++) {
      const target = targets[i]!
      if (!isOpen(target, tried)) continue
      target.turn += target.weight
      total += target.weight
      if (best === null || target.turn > best.turn) best = target
    }
    if (best !== null) best.turn -= total
    return best
  }
}

/** Selects the target with the fewest attempts in progress relative to its weight. Equal ones take turns. */
export class LeastPending implements Balancer {
  readonly #targets: readonly Target[]
  #start = 0

  constructor(targets: readonly Target[]) {
    this.#targets = targets
  }

  pick(tried: readonly Target[]): Target | null {
    const targets = this.#targets
    let best: Target | null = null
    let least = Number.POSITIVE_INFINITY
    const start = this.#start++ % targets.length
    for (let i = 0; i < targets.length; i++) {
      const target = targets[(start + i) % targets.length]!
      if (!isOpen(target, tried)) continue
      const load = loadOf(target)
      if (load < least) {
        least = load
        best = target
      }
    }
    return best
  }
}

/**
 * Draws two random targets and selects the one with fewer attempts in progress relative to its weight. This is nearly
 * as even as comparing all. Independent workers do not all select the same target (Mitzenmacher, "The power of two
 * choices").
 */
export class PowerOfTwo implements Balancer {
  readonly #targets: readonly Target[]
  readonly #random: () => number

  /** @param random returns a number from 0 up to, but not including, 1. */
  constructor(targets: readonly Target[], random: () => number = Math.random) {
    this.#targets = targets
    this.#random = random
  }

  pick(tried: readonly Target[]): Target | null {
    const first = this.#drawOther(tried, null)
    if (first === null) return null
    const second = this.#drawOther(tried, first)
    return second !== null && loadOf(second) < loadOf(first) ? second : first
  }

  #drawOther(tried: readonly Target[], other: Target | null): Target | null {
    const targets = this.#targets
    let left = 0
    for (const target of targets) if (target !== other && isOpen(target, tried)) left++
    if (left === 0) return null
    let steps = Math.floor(this.#random() * left)
    return targets.find((target) => target !== other && isOpen(target, tried) && steps-- === 0) ?? null
  }
}

interface Point {
  readonly at: number
  readonly target: Target
}

/**
 * Consistent hashing. A key always selects the same target; when a target is added, removed or already tried, only its
 * share of the keys moves. Without a key, targets take turns.
 */
export class HashRing implements Balancer {
  readonly #turns: RoundRobin
  readonly #points: readonly Point[]

  constructor(targets: readonly Target[]) {
    this.#turns = new RoundRobin(targets)
    const weights = targets.reduce((sum, { weight }) => sum + weight, 0)
    const perWeight = Math.min(POINTS_PER_WEIGHT, MAX_POINTS / weights)
    const points: Point[] = []
    for (const target of targets) {
      for (let i = 0; i < target.weight * perWeight; i++)
        points.push({ at: hashText(`${nameOf(target)}#${i}`), target })
    }
    this.#points = points.sort((a, b) => a.at - b.at)
  }

  pick(tried: readonly Target[], key: string | null): Target | null {
    const points = this.#points
    if (key === null || points.length === 0) return this.#turns.pick(tried)
    const start = this.#firstFrom(hashText(key))
    for (let i = 0; i < points.length; i++) {
      const { target } = points[(start + i) % points.length]!
      if (isOpen(target, tried)) return target
    }
    return null
  }

  #firstFrom(at: number): number {
    let low = 0
    let high = this.#points.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#points[middle]!.at < at) low = middle + 1
      else high = middle
    }
    return low === this.#points.length ? 0 : low
  }
}

function isOpen(target: Target, tried: readonly Target[]): boolean {
  return target.isAvailable && !tried.includes(target)
}

function loadOf({ active, weight }: Target): number {
  return (active + 1) / weight
}

/** Returns a name that is unique among the targets of an upstream. */
export function nameOf({ origin, address }: Target): string {
  return address === null ? origin : `${origin} ${address}`
}
