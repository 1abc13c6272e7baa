/** The limits of one use of the policy; several uses may share one table. */
export interface Limits {
  readonly max: number
  /** Most that wait for one key; 0: nobody waits. */
  readonly queue: number
  readonly waitMs: number
  /** The share of `max` that holds now. */
  readonly throttle: { readonly share: number; readonly min: number } | null
}

/** What a request holds while it is under way, or waits for. */
export class Permit {
  readonly key: string
  readonly limits: Limits
  state: 'held' | 'waiting' | 'over' = 'waiting'
  timer: NodeJS.Timeout | null = null
  /** Hears whether it is held. */
  settle: (isHeld: boolean) => void = () => {}

  constructor(key: string, limits: Limits) {
    this.key = key
    this.limits = limits
  }
}

/** What is under way for a key, and who waits, in order. */
interface Semaphore {
  held: number
  readonly waiting: Set<Permit>
}

/**
 * Who is under way, by key. A key stands here as long as somebody holds a permit or waits for one:
 *
 *     'orders' ─► held 3, waiting [permit, permit]
 *                    │         └─ leaves: granted, timed out, or given up by its client
 *                    └─ release: the first that waits gets the permit
 */
export class Semaphores {
  readonly #semaphores = new Map<string, Semaphore>()

  /** How many keys it remembers. */
  get size(): number {
    return this.#semaphores.size
  }

  heldOf(key: string): number {
    return this.#semaphores.get(key)?.held ?? 0
  }

  /** How many more would get a permit for a key at once. */
  roomFor(key: string, limits: Limits): number {
    return Math.max(0, allowed(limits) - this.heldOf(key))
  }

  /** A permit, held or waited for; null when there is neither a free one nor room to wait. */
  acquire(key: string, limits: Limits): Permit | null {
    let semaphore = this.#semaphores.get(key)
    const isFull =
      semaphore !== undefined && (semaphore.waiting.size > 0 || semaphore.held >= allowed(limits))
    if (isFull && semaphore!.waiting.size >= limits.queue) return null
    if (semaphore === undefined) {
      semaphore = { held: 0, waiting: new Set() }
      this.#semaphores.set(key, semaphore)
    }
    const permit = new Permit(key, limits)
    if (isFull) this.#wait(permit, semaphore)
    else {
      semaphore.held++
      permit.state = 'held'
    }
    return permit
  }

  /** Ends a permit, whatever its state; a second time changes nothing. */
  release(permit: Permit): void {
    const { state, key } = permit
    if (state === 'over') return
    const semaphore = this.#semaphores.get(key)!
    permit.state = 'over'
    if (state === 'held') semaphore.held--
    else this.#leave(permit, semaphore)
    this.#grant(key, semaphore)
  }

  #wait(permit: Permit, semaphore: Semaphore): void {
    semaphore.waiting.add(permit)
    permit.timer = setTimeout(() => {
      this.release(permit)
      permit.settle(false)
    }, permit.limits.waitMs).unref()
  }

  #leave(permit: Permit, semaphore: Semaphore): void {
    semaphore.waiting.delete(permit)
    if (permit.timer !== null) clearTimeout(permit.timer)
  }

  #grant(key: string, semaphore: Semaphore): void {
    for (const permit of semaphore.waiting) {
      if (semaphore.held >= allowed(permit.limits)) break
      this.#leave(permit, semaphore)
      semaphore.held++
      permit.state = 'held'
      permit.settle(true)
    }
    if (semaphore.held === 0 && semaphore.waiting.size === 0) this.#semaphores.delete(key)
  }
}

function allowed({ max, throttle }: Limits): number {
  return throttle === null ? max : Math.max(Math.min(max, throttle.min), Math.floor(max * throttle.share))
}
