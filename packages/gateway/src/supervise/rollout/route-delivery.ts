/** A route's text with its number. */
export type NumberedRoute = readonly [number: number, text: string]

/** Messages that send a worker the routes of a bundle. */
export interface Delivery {
  /** Route numbers in document order. A worker reads a typed array as a block of memory. */
  readonly numbers: Uint32Array
  /** Routes that the worker lacks, in messages of limited size. */
  readonly parts: readonly (readonly NumberedRoute[])[]
  /** Numbers of routes that the worker can discard. */
  readonly forgotten: readonly number[]
}

/** Maximum number of characters per message. Reading a longer one would delay the worker's requests. */
const MAX_PART_CHARS = 256 * 1024

/** Tracks the routes that one worker has. Each route is sent once and then referenced by number. */
export class RouteDelivery {
  readonly #numbers = new Map<string, number>()
  #lastNumber = 0
  #delivered: readonly string[] = []
  #serving: readonly string[] = []

  /**
   * Returns the messages needed for a bundle. The worker keeps the routes of this bundle and of the active
   * one.
   */
  deliver(texts: readonly string[]): Delivery {
    this.#delivered = texts
    const forgotten = this.#forget(new Set([...texts, ...this.#serving]))
    const added: NumberedRoute[] = []
    const numbers = Uint32Array.from(texts, (text) => {
      const known = this.#numbers.get(text)
      if (known !== undefined) return known
      const number = ++this.#lastNumber
      this.#numbers.set(text, number)
      added.push([number, text])
      return number
    })
    return { numbers, parts: partsOf(added), forgotten }
  }

  /** Marks the last delivered bundle as active. */
  activated(): void {
    this.#serving = this.#delivered
  }

  #forget(kept: ReadonlySet<string>): number[] {
    const forgotten: number[] = []
    for (const [text, number] of this.#numbers) {
      if (kept.has(text)) continue
      this.#numbers.delete(text)
      forgotten.push(number)
    }
    return forgotten
  }
}

function partsOf(routes: readonly NumberedRoute[]): NumberedRoute[][] {
  const parts: NumberedRoute[][] = []
  let chars = MAX_PART_CHARS
  for (const route of routes) {
    chars += route[1].length
    if (chars > MAX_PART_CHARS) {
      parts.push([])
      chars = route[1].length
    }
    parts.at(-1)!.push(route)
  }
  return parts
}
