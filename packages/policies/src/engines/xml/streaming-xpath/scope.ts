import { randomInt } from 'node:crypto'
import { isAt, isRepeated } from '../bytes.js'

/** Most declarations that hold at a time. */
const MAX_BINDINGS = 64
/** Of each: where its prefix begins and ends, the same of what it stands for, and a number made of the prefix. */
const FIELDS = 5
const NUMBER = 4

/** Differs in each process, so that nobody can write many prefixes of one number. */
const SEED = randomInt(2 ** 31)
const FNV_PRIME = 0x01000193

const NOTHING = new Uint8Array()

/** The namespace declarations that hold where a document is being read: positions of prefixes and of what they stand for. */
export class Scope {
  readonly #positions = new Int32Array(FIELDS * MAX_BINDINGS)
  #body: Uint8Array = NOTHING
  /** How many there are; those of an element are dropped with it by setting this back. */
  count = 0

  /** Reads this document from here on. */
  begin(body: Uint8Array): void {
    this.#body = body
    this.count = 0
  }

  /** Lets go of the document. */
  release(): void {
    this.#body = NOTHING
  }

  /** @param prefix from here to `prefixEnd`, which is the same position for none. @returns false when there are too many */
  declare(prefix: number, prefixEnd: number, uri: number, uriEnd: number): boolean {
    if (this.count === MAX_BINDINGS) return false
    const positions = this.#positions
    const at = FIELDS * this.count++
    positions[at] = prefix
    positions[at + 1] = prefixEnd
    positions[at + 2] = uri
    positions[at + 3] = uriEnd
    positions[at + NUMBER] = numberOf(this.#body, prefix, prefixEnd)
    return true
  }

  /**
   * The declaration that a prefix means, the last one; -1 when there is none. Compares numbers first: prefixes that
   * differ in their last letters would take as long as all declarations together.
   */
  bindingOf(prefix: number, prefixEnd: number): number {
    const positions = this.#positions
    const length = prefixEnd - prefix
    const number = numberOf(this.#body, prefix, prefixEnd)
    for (let i = this.count - 1; i >= 0; i--) {
      const at = FIELDS * i
      if (positions[at + NUMBER] !== number) continue
      const start = positions[at]!
      const end = positions[at + 1]!
      if (end - start === length && isRepeated(this.#body, prefix, start, end)) return i
    }
    return -1
  }

  /** Whether a declaration is for this namespace; -1 stands for none, whose namespace is empty. */
  isFor(binding: number, namespace: Uint8Array): boolean {
    if (binding === -1) return namespace.length === 0
    const positions = this.#positions
    const start = positions[FIELDS * binding + 2]!
    const end = positions[FIELDS * binding + 3]!
    return end - start === namespace.length && isAt(this.#body, namespace, start)
  }
}

function numberOf(body: Uint8Array, from: number, end: number): number {
  let number = SEED
  for (let at = from; at < end; at++) number = Math.imul(number ^ body[at]!, FNV_PRIME)
  return number
}
