/** Releases something that a snapshot opened. */
export type Closer = () => void

/** Calls cleanup functions in reverse order. */
export function unwind(closers: readonly Closer[]): void {
  for (let i = closers.length - 1; i >= 0; i--) closers[i]!()
}

interface Entry {
  readonly value: unknown
  uses: number
  /** Timer that runs while the value is unused. */
  grace: NodeJS.Timeout | null
}

/**
 * Time in milliseconds that an unused value is kept, so that two reloads in a row do not lose counters and
 * connections.
 */
const GRACE_MS = 10_000

/**
 * Values that outlive reloads: upstream connections, balancers, caches of policies. A value lives while a
 * snapshot uses its key, and for a grace period after that.
 */
export class SharedTable {
  readonly #entries = new Map<string, Entry>()
  readonly #close: (value: unknown) => void

  /** @param close called with a value after its last user has released it. */
  constructor(close: (value: unknown) => void) {
    this.#close = close
  }

  /** Returns the value of a key and creates it if needed. Call `release` exactly once. */
  acquire<T>(key: string, create: () => T): { readonly value: T; readonly release: Closer } {
    const entry = this.#entries.get(key) ?? this.#add(key, create())
    entry.uses++
    endGrace(entry)
    let isHeld = true
    const release = (): void => {
      if (isHeld) this.#release(key, entry)
      isHeld = false
    }
    return { value: entry.value as T, release }
  }

  /** Iterates over all open values, including unused ones in their grace period. */
  *values(): Iterable<unknown> {
    for (const { value } of this.#entries.values()) yield value
  }

  /** Closes all values immediately. */
  clear(): void {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    for (const entry of entries) {
      endGrace(entry)
      this.#close(entry.value)
    }
  }

  #add(key: string, value: unknown): Entry {
    const entry = { value, uses: 0, grace: null }
    this.#entries.set(key, entry)
    return entry
  }

  #release(key: string, entry: Entry): void {
    if (--entry.uses > 0 || this.#entries.get(key) !== entry) return
    entry.grace = setTimeout(() => {
      this.#entries.delete(key)
      this.#close(entry.value)
    }, GRACE_MS)
    entry.grace.unref()
  }
}

/** Cancels the grace period. It restarts after the next release. */
function endGrace(entry: Entry): void {
  if (entry.grace !== null) clearTimeout(entry.grace)
  entry.grace = null
}
