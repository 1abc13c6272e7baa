import { endOfName, endOfNamespace, isAt, isRepeated } from '../bytes.js'
import { attributeValue, endOfValue, isSpace } from './plain-text.js'
import type { Scope } from './scope.js'

/** Most attributes of an element: they are compared with each other. */
const MAX_ATTRIBUTES = 32
/** What is known of an attribute: where its name and its local name begin, where it ends, and the same of its value. */
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

/** The start tag that is being read; one object for all tags of a document, which are read one after another. */
export class StartTag {
  /** Where the name begins and ends, and where its part without prefix begins. */
  start = 0
  end = 0
  local = 0
  /** The declaration of its prefix, or of the namespace without one; -1: none. */
  binding = -1
  /** It has no content and no end tag. */
  isEmpty = false
  readonly #positions = new Int32Array(FIELDS * MAX_ATTRIBUTES)
  #count = 0
  #body: Uint8Array = NOTHING
  #limit = 0
  /** How many declarations held before this tag. */
  #outer = 0
  readonly #scope: Scope

  constructor(scope: Scope) {
    this.#scope = scope
  }

  /** Reads tags of this document from here on, up to the limit. */
  begin(body: Uint8Array, limit: number): void {
    this.#body = body
    this.#limit = limit
  }

  /** Lets go of the document. */
  release(): void {
    this.#body = NOTHING
  }

  /** Reads the tag and adds its declarations to the scope. @returns after it, or -1 when it is not plain */
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

  /** @param colon where a prefix follows, or the end of the name. */
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
      // Two prefixes may mean the same namespace, so the same name after two of them is for the parser.
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

  /** Once all declarations are known: every prefix has to have one. */
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

  /** Which attribute has this name; -1: none. @param namespace empty: none, as attributes without a prefix have. */
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

  /** What the value of an attribute stands for; null when that is for the parser to say. */
  valueOf(index: number): string | null {
    const at = FIELDS * index
    return attributeValue(this.#body, this.#positions[at + VALUE]!, this.#positions[at + VALUE_END]!)
  }
}

/** Where the part of a name after its prefix begins. */
function localOf(body: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) if (body[at] === COLON) return at + 1
  return start
}

function isDeclaration(body: Uint8Array, at: number, end: number): boolean {
  const colon = at + XMLNS.length
  return isAt(body, XMLNS, at) && (colon === end || (colon < end && body[colon] === COLON))
}

/** `xml` and `xmlns` have meanings of their own. */
function isReserved(body: Uint8Array, prefix: number, end: number): boolean {
  const length = end - prefix
  return (length === 3 || length === XMLNS.length) && isAt(body, XMLNS.subarray(0, length), prefix)
}
