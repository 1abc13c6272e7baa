import { endOfName, endOfNamespace, isAt, isRepeated } from './bytes.js'
import { attributeValue, endOfValue, isSpace } from './plain-text.js'
import type { Scope } from './scope.js'

/** Maximum number of attributes of an element. They are compared with each other. */
const MAX_ATTRIBUTES = 32
/**
 * Number of values per attribute: start of its name, start of its local name, end of its name, start and end of its
 * value.
 */
const FIELDS = 5
const LOCAL = 1
const END = 2
const VALUE = 3
const VALUE_END = 4

const GT = 0x3e
const SLASH = 0x2f
const EQUALS = 0x3d
const QUOTE = 0x22
const APOSTROPHE = 0x27
const COLON = 0x3a

const NOTHING = new Uint8Array()
const XMLNS = Buffer.from('xmlns')

/** The start tag that is being read. One object is reused for all tags of a document. */
export class StartTag {
  /** Start and end of the name, and start of its local part. */
  start = 0
  end = 0
  local = 0
  /** Declaration of the prefix or of the default namespace, or -1. */
  binding = -1
  /** True for an empty-element tag. */
  isEmpty = false
  readonly #positions = new Int32Array(FIELDS * MAX_ATTRIBUTES)
  #count = 0
  #body: Uint8Array = NOTHING
  #limit = 0
  /** Number of declarations in scope before this tag. */
  #outer = 0
  readonly #scope: Scope

  constructor(scope: Scope) {
    this.#scope = scope
  }

  /** Starts reading tags of a document, up to the limit. */
  begin(body: Uint8Array, limit: number): void {
    this.#body = body
    this.#limit = limit
  }

  release(): void {
    this.#body = NOTHING
  }

  /** Reads the tag and adds its declarations to the scope. @returns the position after it, or -1 if it is not plain */
  read(at: number): number {
    const body = this.#body
    this.start = at + 1
    this.end = endOfName(body, at + 1)
    if (this.end === -1) return -1
    this.local = localOf(body, this.start, this.end)
    this.#count = 0
    this.#outer = this.#scope.count
    const next = this.#readAttributes()
    if (next === -1 || !this.#bind()) return -1
    this.isEmpty = body[next] === SLASH
    const close = this.isEmpty ? next + 1 : next
    return body[close] === GT && close < this.#limit ? close + 1 : -1
  }

  #readAttributes(): number {
    const body = this.#body
    const limit = this.#limit
    let at = this.end
    for (;;) {
      const before = at
      while (at < limit && isSpace(body[at]!)) at++
      if (body[at] === GT || body[at] === SLASH) return at
      if (at === before || at >= limit) return -1
      at = this.#readAttribute(at)
      if (at === -1) return -1
    }
  }

  #readAttribute(at: number): number {
    const body = this.#body
    const end = endOfName(body, at)
    if (end === -1 || body[end] !== EQUALS) return -1
    const quote = body[end + 1]!
    if (quote !== QUOTE && quote !== APOSTROPHE) return -1
    const value = end + 2
    const valueEnd = endOfValue(body, value, quote, this.#limit)
    if (valueEnd === -1) return -1
    const isTaken = isDeclaration(body, at, end)
      ? this.#declare(at + XMLNS.length, end, value, valueEnd)
      : this.#add(at, end, value, valueEnd)
    return isTaken ? valueEnd + 1 : -1
  }

  /** Adds a namespace declaration. @param colon position of the colon before the prefix, or the end of the name. */
  #declare(colon: number, end: number, uri: number, uriEnd: number): boolean {
    const body = this.#body
    const isDefault = colon === end
    const prefix = isDefault ? end : colon + 1
    if (isReserved(body, prefix, end)) return false
    if (!(isDefault && uri === uriEnd) && endOfNamespace(body, uri) !== uriEnd) return false
    const again = this.#scope.bindingOf(prefix, end)
    return again < this.#outer && this.#scope.declare(prefix, end, uri, uriEnd)
  }

  #add(start: number, end: number, value: number, valueEnd: number): boolean {
    const body = this.#body
    const local = localOf(body, start, end)
    if (this.#count === MAX_ATTRIBUTES) return false
    const positions = this.#positions
    for (let at = FIELDS * this.#count - FIELDS; at >= 0; at -= FIELDS) {
      // Two prefixes may have the same namespace. So the same local name with two prefixes is left to the parser.
      const hasPrefix = positions[at]! !== positions[at + LOCAL]!
      if (hasPrefix !== (start !== local) || positions[at + END]! - positions[at + LOCAL]! !== end - local)
        continue
      if (isRepeated(body, positions[at + LOCAL]!, local, end)) return false
    }
    const at = FIELDS * this.#count++
    positions[at] = start
    positions[at + LOCAL] = local
    positions[at + END] = end
    positions[at + VALUE] = value
    positions[at + VALUE_END] = valueEnd
    return true
  }

  /**
   * Resolves the prefixes of the element and its attributes after all declarations. Returns false if one is
   * undeclared.
   */
  #bind(): boolean {
    const scope = this.#scope
    const positions = this.#positions
    this.binding = scope.bindingOf(this.start, Math.max(this.start, this.local - 1))
    if (this.binding === -1 && this.local > this.start) return false
    for (let at = FIELDS * this.#count - FIELDS; at >= 0; at -= FIELDS) {
      const start = positions[at]!
      const local = positions[at + LOCAL]!
      if (local > start && scope.bindingOf(start, local - 1) === -1) return false
    }
    return true
  }

  /**
   * Returns the index of the attribute with a name, or -1.
   * @param namespace namespace, or empty for none, as attributes without a prefix have.
   */
  find(name: Uint8Array, namespace: Uint8Array): number {
    const body = this.#body
    const positions = this.#positions
    for (let i = 0; i < this.#count; i++) {
      const at = FIELDS * i
      const start = positions[at]!
      const local = positions[at + LOCAL]!
      if (positions[at + END]! - local !== name.length || !isAt(body, name, local)) continue
      const binding = local === start ? -1 : this.#scope.bindingOf(start, local - 1)
      if (this.#scope.isFor(binding, namespace)) return i
    }
    return -1
  }

  /** Returns the value of an attribute, or null if only the parser can decide. */
  valueOf(index: number): string | null {
    const at = FIELDS * index
    return attributeValue(this.#body, this.#positions[at + VALUE]!, this.#positions[at + VALUE_END]!)
  }
}

/** Returns the start of the local part of a name. */
function localOf(body: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) if (body[at] === COLON) return at + 1
  return start
}

function isDeclaration(body: Uint8Array, at: number, end: number): boolean {
  const colon = at + XMLNS.length
  return isAt(body, XMLNS, at) && (colon === end || (colon < end && body[colon] === COLON))
}

/** Returns true for the reserved prefixes `xml` and `xmlns`. */
function isReserved(body: Uint8Array, prefix: number, end: number): boolean {
  const length = end - prefix
  return (length === 3 || length === XMLNS.length) && isAt(body, XMLNS.subarray(0, length), prefix)
}
