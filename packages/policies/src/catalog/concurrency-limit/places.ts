/** The limits of one use of the policy; several uses may share one table. */
export interface Limits {
  readonly max: number
  /** Most that wait for one key; 0: nobody waits. */
  readonly queue: number
  readonly waitMs: number
  /** The share of `max` that holds now. */
  readonly throttle: { readonly share: number; readonly min: number } | null
}

/** A request's claim to a place: it has one, waits for one, or is done. */
export class Claim {
  readonly key: string
  readonly limits: Limits
  state: 'held' | 'waiting' | 'over' = 'waiting'
  timer: NodeJS.Timeout | null = null
  /** Hears whether it got its place. */
  settle: (isHeld: boolean) => void = () => {}

  constructor(key: string, limits: Limits) {
    this.key = key
    this.limits = limits
  }
}

/** What is under way for a key, and who waits, in order. */
interface Place {
  held: number
  readonly waiting: Set<Claim>
}

/**
 * Who is under way, by key. A key stands here as long as somebody holds a place or waits for one:
 *
 *     'orders' ─► held 3, waiting [claim, claim]
 *                    │         └─ leaves: granted, timed out, or given up by its client
 *                    └─ release: the first that waits gets the place
 */
export class Places {
  readonly #places = new Map<string, Place>()

  /** How many keys it remembers. */
  get size(): number {
    return this.#places.size
  }

  heldOf(key: string): number {
    return this.#places.get(key)?.held ?? 0
  }

  /** How many more would get a place for a key at once. */
  roomFor(key: string, limits: Limits): number {
    return Math.max(0, allowed(limits) - this.heldOf(key))
  }

  /** A claim that holds a place or waits for one; null when there is neither a place nor room to wait. */
  claim(key: string, limits: Limits): Claim | null {
    let place = this.#places.get(key)
    const isFull = place !== undefined && (place.waiting.size > 0 || place.held >= allowed(limits))
    if (isFull && place!.waiting.size >= limits.queue) return null
    if (place === undefined) {
      place = { held: 0, waiting: new Set() }
      this.#places.set(key, place)
    }
    const claim = new Claim(key, limits)
    if (isFull) this.#wait(claim, place)
    else {
      place.held++
      claim.state = 'held'
    }
    return claim
  }

  /** Ends a claim, whatever its state; a second time changes nothing. */
  release(claim: Claim): void {
    const { state, key } = claim
    if (state === 'over') return
    const place = this.#places.get(key)!
    claim.state = 'over'
    if (state === 'held') place.held--
    else this.#leave(claim, place)
    this.#grant(key, place)
  }

  #wait(claim: Claim, place: Place): void {
    place.waiting.add(claim)
    claim.timer = setTimeout(() => {
      this.release(claim)
      claim.settle(false)
    }, claim.limits.waitMs).unref()
  }

  #leave(claim: Claim, place: Place): void {
    place.waiting.delete(claim)
    if (claim.timer !== null) clearTimeout(claim.timer)
  }

  #grant(key: string, place: Place): void {
    for (const claim of place.waiting) {
      if (place.held >= allowed(claim.limits)) break
      this.#leave(claim, place)
      place.held++
      claim.state = 'held'
      claim.settle(true)
    }
    if (place.held === 0 && place.waiting.size === 0) this.#places.delete(key)
  }
}

function allowed({ max, throttle }: Limits): number {
  return throttle === null ? max : Math.max(Math.min(max, throttle.min), Math.floor(max * throttle.share))
}
