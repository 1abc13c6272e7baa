import { isAt, isRepeated } from '../bytes.js'

/** Most declarations that hold at a time. */
const MAX_BINDINGS = 64
const FIELDS = 4

/** The namespace declarations that hold where a document is being read: places of prefixes and of what they stand for. */
export class Scope {
  readonly #places = new Int32Array(FIELDS * MAX_BINDINGS)
  /** How many there are; those of an element are dropped with it by setting this back. */
  count = 0

  /** @param prefix from here to `prefixEnd`, which is the same place for none. @returns false when there are too many */
  declare(prefix: number, prefixEnd: number, uri: number, uriEnd: number): boolean {
    if (this.count === MAX_BINDINGS) return false
    const places = this.#places
    const at = FIELDS * this.count++
    places[at] = prefix
    places[at + 1] = prefixEnd
    places[at + 2] = uri
    places[at + 3] = uriEnd
    return true
  }

  /** The declaration that a prefix means, the last one; -1 when there is none. */
  bindingOf(body: Uint8Array, prefix: number, prefixEnd: number): number {
    const places = this.#places
    const length = prefixEnd - prefix
    for (let i = this.count - 1; i >= 0; i--) {
      const at = FIELDS * i
      const start = places[at]!
      const end = places[at + 1]!
      if (end - start === length && isRepeated(body, prefix, start, end)) return i
    }
    return -1
  }

  /** Whether a declaration is for this namespace; -1 stands for none, whose namespace is empty. */
  isFor(body: Uint8Array, binding: number, namespace: Uint8Array): boolean {
    if (binding === -1) return namespace.length === 0
    const places = this.#places
    const start = places[FIELDS * binding + 2]!
    const end = places[FIELDS * binding + 3]!
    return end - start === namespace.length && isAt(body, namespace, start)
  }
}
