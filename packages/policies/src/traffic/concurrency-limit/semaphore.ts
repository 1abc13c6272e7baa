/** Limits of one use of the policy. Several uses may share one table. */
export interface Limits {
  readonly max: number
  /** Maximum number of waiting requests per key. 0 disables the queue. */
  readonly queue: number
  readonly waitMs: number
  /** Current share of `max` under adaptive limiting, or null without it. */
  readonly throttle: { readonly share: number; readonly min: number } | null
}

/** Permit that a request holds or waits for. */
export class Permit {
  readonly key: string
  readonly limits: Limits
  state: 'held' | 'waiting' | 'over' = 'waiting'
  timer: NodeJS.Timeout | null = null
  /** Called with true when the permit is granted, or with false if the wait timed out. */
  settle: (isHeld: boolean) => void = () => {}

  constructor(key: string, limits: Limits) {
    this.key = key
    this.limits = limits
  }
}

/** Permits of one key: the number held and the queue. */
interface Semaphore {
  held: number
  readonly waiting: Set<Permit>
}

/**
 * Permits by key. A key exists only while a permit for it is held or waited for:
 *
 *     'orders' ─► held 3, waiting [permit, permit]
 *                    │         └─ leaves when granted, timed out or abandoned by the client
 *                    └─ release: the first waiting request gets the permit
 */
export class Semaphores {
  readonly #semaphores = new Map<string, Semaphore>()

  get size(): number {
    return this.#semaphores.size
  }

  heldOf(key: string): number {
    return this.#semaphores.get(key)?.held ?? 0
  }

  freePermits(key: string, limits: Limits): number {
    return Math.max(0, allowed(limits) - this.heldOf(key))
  }

  /** Returns a permit, held or waiting. Returns null if none is free and the queue is full. */
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

  /** Ends a permit in any state. Can be called repeatedly. */
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
