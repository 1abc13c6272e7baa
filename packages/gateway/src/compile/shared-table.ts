/** Closes what a snapshot opened, in reverse order. */
export type Closer = () => void

/** Closes in reverse order. */
export function unwind(closers: readonly Closer[]): void {
  for (let i = closers.length - 1; i >= 0; i--) closers[i]!()
}

interface Entry {
  readonly value: unknown
  uses: number
  /** Runs while nobody uses the value. */
  grace: NodeJS.Timeout | null
}

/** How long an unused value is kept, so that two reloads in a row do not lose counters and connections. */
const GRACE_MS = 10_000

/**
 * Values that must outlive reloads: upstream connections, balancers, caches of policies. A value lives while some
 * snapshot uses its key, and a little longer.
 */
export class SharedTable {
  readonly #entries = new Map<string, Entry>()
  readonly #close: (value: unknown) => void

  /** @param close is called with a value when its last user has gone. */
  constructor(close: (value: unknown) => void) {
    this.#close = close
  }

  /** The value of a key, made if nobody has it yet; `release` must be called once. */
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

  /** All that are not closed, also those that are kept for a while only. */
  *values(): Iterable<unknown> {
    for (const { value } of this.#entries.values()) yield value
  }

  /** Closes everything at once. */
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

/** Each time a value loses its last user it has the whole time before it again. */
function endGrace(entry: Entry): void {
  if (entry.grace !== null) clearTimeout(entry.grace)
  entry.grace = null
}
