import { randomInt } from 'node:crypto'
import { isAt, isRepeated } from './bytes.js'

/** Maximum number of declarations in scope. */
const MAX_BINDINGS = 64
/**
 * Number of values per declaration: start and end of the prefix, start and end of the URI, and a hash of the prefix.
 */
const FIELDS = 5
const HASH = 4

/** Hash seed. It differs in each process, so that clients cannot construct many prefixes with the same hash. */
const SEED = randomInt(2 ** 31)
const FNV_PRIME = 0x01000193

const NOTHING = new Uint8Array()

/** Namespace declarations in scope while a document is read: positions of prefixes and their URIs. */
export class Scope {
  readonly #positions = new Int32Array(FIELDS * MAX_BINDINGS)
  #body: Uint8Array = NOTHING
  /** Number of declarations. Reset it at the end of an element to drop those of the element. */
  count = 0

  /** Starts reading a document. */
  begin(body: Uint8Array): void {
    this.#body = body
    this.count = 0
  }

  release(): void {
    this.#body = NOTHING
  }

  /**
   * Adds a declaration.
   * @param prefix start of the prefix, equal to `prefixEnd` if there is none.
   * @returns false if there are too many
   */
  declare(prefix: number, prefixEnd: number, uri: number, uriEnd: number): boolean {
    if (this.count === MAX_BINDINGS) return false
    const positions = this.#positions
    const at = FIELDS * this.count++
    positions[at] = prefix
    positions[at + 1] = prefixEnd
    positions[at + 2] = uri
    positions[at + 3] = uriEnd
    positions[at + HASH] = hashOf(this.#body, prefix, prefixEnd)
    return true
  }

  /**
   * Returns the latest declaration of a prefix, or -1. Compares hashes first, because comparing long prefixes that
   * differ only at the end would take time proportional to all declarations.
   */
  bindingOf(prefix: number, prefixEnd: number): number {
    const positions = this.#positions
    const length = prefixEnd - prefix
    const hash = hashOf(this.#body, prefix, prefixEnd)
    for (let i = this.count - 1; i >= 0; i--) {
      const at = FIELDS * i
      if (positions[at + HASH] !== hash) continue
      const start = positions[at]!
      const end = positions[at + 1]!
      if (end - start === length && isRepeated(this.#body, prefix, start, end)) return i
    }
    return -1
  }

  /** Returns true if a declaration has this namespace. The binding -1 has the empty namespace. */
  isFor(binding: number, namespace: Uint8Array): boolean {
    if (binding === -1) return namespace.length === 0
    const positions = this.#positions
    const start = positions[FIELDS * binding + 2]!
    const end = positions[FIELDS * binding + 3]!
    return end - start === namespace.length && isAt(this.#body, namespace, start)
  }
}

function hashOf(body: Uint8Array, from: number, end: number): number {
  let hash = SEED
  for (let at = from; at < end; at++) hash = Math.imul(hash ^ body[at]!, FNV_PRIME)
  return hash
}
