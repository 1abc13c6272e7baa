/** A route with the number that stands for it. */
export type NumberedRoute = readonly [number: number, text: string]

/** How a worker comes to the routes of a bundle. */
export interface Delivery {
  /** In the order of the routes. */
  readonly numbers: readonly number[]
  /** Those that the worker does not have, in messages of a bounded size. */
  readonly parts: readonly (readonly NumberedRoute[])[]
  /** Those that it needs no longer. */
  readonly forgotten: readonly number[]
}

/** Characters of one message: reading a longer one would hold up the requests of the worker. */
const MAX_PART_CHARS = 256 * 1024

/** The routes that one worker has. Each is sent once and has a number from then on, so that a reload sends what is new. */
export class RouteDelivery {
  readonly #numbers = new Map<string, number>()
  #lastNumber = 0
  #delivered: readonly string[] = []
  #serving: readonly string[] = []

  /** Says what has to be sent for a bundle; the worker keeps the routes of that and of what serves. */
  deliver(texts: readonly string[]): Delivery {
    this.#delivered = texts
    const forgotten = this.#forget(new Set([...texts, ...this.#serving]))
    const added: NumberedRoute[] = []
    const numbers = texts.map((text) => {
      const known = this.#numbers.get(text)
      if (known !== undefined) return known
      const number = ++this.#lastNumber
      this.#numbers.set(text, number)
      added.push([number, text])
      return number
    })
    return { numbers, parts: partsOf(added), forgotten }
  }

  /** The bundle that was delivered last serves. */
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
