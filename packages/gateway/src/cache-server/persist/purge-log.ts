import type { PurgeOrder } from '../store/cache-store.js'

/** Maximum number of remembered purges, and of the characters in them. */
const MAX_PURGES = 1000
const MAX_CHARACTERS = 256 * 1024

interface Purge extends PurgeOrder {
  readonly epoch: number
  readonly number: number
}

/**
 * Log of purges. A stored value that is older than a matching purge is not used. So a purge costs the same
 * regardless of the number of values.
 */
export class PurgeLog {
  readonly #purges = new Map<string, Purge>()
  #characters = 0

  /** Adds a purge. Returns the field and value to store in Valkey, or null if there is no room. */
  add({ prefix, tag }: PurgeOrder, epoch: number, number: number): readonly [string, string] | null {
    const field = `p${JSON.stringify([prefix, tag])}`
    if (!this.#purges.has(field)) {
      this.#characters += field.length
      if (this.#purges.size >= MAX_PURGES || this.#characters > MAX_CHARACTERS) return null
    }
    this.#purges.set(field, { prefix, tag, epoch, number })
    return [field, `${epoch}.${number}`]
  }

  /** Restores a purge from Valkey. Returns false if it is unreadable or one too many. */
  take(field: string, value: string): boolean {
    const at = /^(\d{1,10})\.(\d{1,16})$/.exec(value)
    const order = at === null ? null : readOrder(field)
    return order !== null && this.add(order, Number(at![1]), Number(at![2])) !== null
  }

  /** Returns true if a value with this key and these tags was purged after it was written. */
  has(key: string, tags: string, epoch: number, number: number): boolean {
    for (const purge of this.#purges.values()) {
      const isLater = purge.epoch > epoch || (purge.epoch === epoch && purge.number > number)
      if (isLater && key.startsWith(purge.prefix) && tags.includes(purge.tag)) return true
    }
    return false
  }

  clear(): void {
    this.#purges.clear()
    this.#characters = 0
  }
}

function readOrder(field: string): PurgeOrder | null {
  try {
    const order: unknown = JSON.parse(field.slice(1))
    const isOrder =
      Array.isArray(order) && order.length === 2 && order.every((one) => typeof one === 'string')
    return isOrder ? { prefix: (order as string[])[0]!, tag: (order as string[])[1]! } : null
  } catch {
    return null
  }
}
