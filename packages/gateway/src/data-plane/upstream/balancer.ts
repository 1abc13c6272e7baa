import type { Target } from './target.js'

/** Picks the target of an attempt among those that are available and were not tried yet. */
export interface Balancer {
  /** @param key the hash key of the exchange, null when it has none. */
  pick(targets: readonly Target[], tried: readonly Target[], key: string | null): Target | null
}

/** Points on the hash ring for each unit of weight. */
const POINTS_PER_WEIGHT = 64

/** Smooth weighted round-robin: targets take turns by weight without bursts, as nginx does it. */
export class RoundRobin implements Balancer {
  pick(targets: readonly Target[], tried: readonly Target[]): Target | null {
    let best: Target | null = null
    let total = 0
    for (let i = 0; i < targets.length; i++) {
      const target = targets[i]!
      if (!target.isAvailable || tried.includes(target)) continue
      target.turn += target.weight
      total += target.weight
      if (best === null || target.turn > best.turn) best = target
    }
    if (best !== null) best.turn -= total
    return best
  }
}

/** The target with the fewest attempts under way for its weight; equals take turns. */
export class LeastPending implements Balancer {
  #start = 0

  pick(targets: readonly Target[], tried: readonly Target[]): Target | null {
    let best: Target | null = null
    let least = Number.POSITIVE_INFINITY
    const start = this.#start++ % targets.length
    for (let i = 0; i < targets.length; i++) {
      const target = targets[(start + i) % targets.length]!
      if (!target.isAvailable || tried.includes(target)) continue
      const load = (target.active + 1) / target.weight
      if (load < least) {
        least = load
        best = target
      }
    }
    return best
  }
}

interface Point {
  readonly at: number
  readonly target: Target
}

/**
 * Consistent hashing: the same key goes to the same target, and a target that comes or goes moves only its share of
 * the keys. Without a key, and for a retry, targets take turns.
 */
export class HashRing implements Balancer {
  readonly #turns = new RoundRobin()
  readonly #points: readonly Point[]

  constructor(targets: readonly Target[]) {
    const points: Point[] = []
    for (const target of targets) {
      for (let i = 0; i < target.weight * POINTS_PER_WEIGHT; i++)
        points.push({ at: hash(`${target.origin}#${i}`), target })
    }
    this.#points = points.sort((a, b) => a.at - b.at)
  }

  pick(targets: readonly Target[], tried: readonly Target[], key: string | null): Target | null {
    if (key === null || tried.length > 0 || this.#points.length === 0) return this.#turns.pick(targets, tried)
    const first = this.#firstFrom(hash(key))
    for (let i = 0; i < this.#points.length; i++) {
      const { target } = this.#points[(first + i) % this.#points.length]!
      if (target.isAvailable) return target
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

/** FNV-1a with a final mix, 32 bits: spreads short similar keys well enough for a ring. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  value ^= value >>> 16
  value = Math.imul(value, 0x85ebca6b)
  value ^= value >>> 13
  return (value ^ (value >>> 16)) >>> 0
}
