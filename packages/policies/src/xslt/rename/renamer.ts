import { isAscii, isUtf8 } from 'node:buffer'
import { endOfName, isAt, isRepeated } from '../../xml/bytes.js'
import { INPUT_LIMITS } from '../input-limits.js'
import { endOfAttribute, endOfText, startOfRoot } from './plain-xml.js'
import type { Renaming } from './renaming.js'

const LT = 0x3c
const GT = 0x3e
const SLASH = 0x2f
const BANG = 0x21
const SPACE = 0x20
const COLON = 0x3a

const DECLARATION = Buffer.from('<?xml version="1.0"?>\n')
const NEWLINE = 0x0a
const XMLNS = Buffer.from('xmlns:')
/** Most attributes of one element: they are compared with each other. */
const MAX_ATTRIBUTES = 16

interface Rule {
  readonly from: Uint8Array
  readonly to: Uint8Array
}

/**
 * Copies documents and renames elements without building a tree, in one pass over the bytes. It knows plain documents
 * only: no CDATA, no processing instructions, no prefixes but those that the root element declares, values in double
 * quotes, nothing that would be written differently than it was read. Whatever is not plain, or not well-formed, gets
 * null, and libxslt decides; what it does make is byte for byte what libxslt makes (renamer.test.ts).
 */
export class Renamer {
  /** Rules by the length of the old name. */
  readonly #rules: (readonly Rule[] | undefined)[] = []
  readonly #growth: number
  readonly #hasDeclaration: boolean

  constructor({ names, hasDeclaration }: Renaming) {
    this.#hasDeclaration = hasDeclaration
    this.#growth = Math.max(1, ...names.map(([from, to]) => to.length / from.length))
    for (const [from, to] of names) {
      const rule = { from: Buffer.from(from), to: Buffer.from(to) }
      this.#rules[from.length] = [...(this.#rules[from.length] ?? []), rule]
    }
  }

  /** The renamed document; null when it is not a plain one. */
  rename(body: Uint8Array): Uint8Array | null {
    if (!isAscii(body) && !isUtf8(body)) return null
    const start = startOfRoot(body)
    if (start === -1) return null
    const head = this.#hasDeclaration ? DECLARATION.length : 0
    const output = Buffer.allocUnsafeSlow(Math.ceil(body.length * this.#growth) + head + 1)
    if (head > 0) output.set(DECLARATION)
    const length = new Run(body, output, this.#rules).copy(start, head)
    if (length === -1) return null
    output[length] = NEWLINE
    return output.subarray(0, length + 1)
  }
}

/** One document on its way. Positions of the body are `at`, those of the output `to`. */
class Run {
  readonly #body: Uint8Array
  readonly #output: Uint8Array
  readonly #rules: readonly (readonly Rule[] | undefined)[]
  /** Where the names of the open elements begin and end, and what they are called now. */
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  readonly #renamed: (Rule | null)[] = []
  /** Where prefixes that the root element declares begin and end, in turn. */
  readonly #prefixes: number[] = []
  /** Where the names of the attributes of an element begin and end, in turn. */
  readonly #attributes: number[] = []
  #attributeEnds = 0
  #to = 0
  #nodes = 0

  constructor(body: Uint8Array, output: Uint8Array, rules: readonly (readonly Rule[] | undefined)[]) {
    this.#body = body
    this.#output = output
    this.#rules = rules
  }

  /** @returns the length of the output, or -1 when the document is not plain. */
  copy(start: number, to: number): number {
    const body = this.#body
    this.#to = to
    let at = this.#startTag(start)
    while (at !== -1 && this.#starts.length > 0) {
      if (body[at] !== LT) at = this.#text(at)
      else if (body[at + 1] === SLASH) at = this.#endTag(at)
      else if (body[at + 1] === BANG) at = this.#comment(at)
      else at = this.#startTag(at)
      if (this.#nodes > INPUT_LIMITS.maxNodes) return -1
    }
    return at === -1 || !this.#isEnd(at) ? -1 : this.#to
  }

  /** Only white space may follow the root element here. */
  #isEnd(from: number): boolean {
    const body = this.#body
    for (let at = from; at < body.length; at++) if (body[at] !== SPACE && body[at] !== NEWLINE) return false
    return true
  }

  #text(at: number): number {
    const end = endOfText(this.#body, at)
    if (end !== -1) this.#take(at, end)
    return end
  }

  /** Byte by byte: most ranges are shorter than what a call of `set` costs. */
  #take(from: number, end: number): void {
    const body = this.#body
    const output = this.#output
    let to = this.#to
    for (let at = from; at < end; at++) output[to++] = body[at]!
    this.#to = to
  }

  #comment(at: number): number {
    const body = this.#body
    if (body[at + 2] !== 0x2d || body[at + 3] !== 0x2d) return -1
    let end = at + 4
    while (end < body.length && !(body[end] === 0x2d && body[end + 1] === 0x2d)) {
      const byte = body[end]!
      if ((byte < SPACE && byte !== NEWLINE && byte !== 0x09) || byte === 0xef) return -1
      end++
    }
    if (body[end + 2] !== GT) return -1
    this.#nodes++
    this.#take(at, end + 3)
    return end + 3
  }

  #startTag(at: number): number {
    const body = this.#body
    const isRoot = this.#starts.length === 0
    const start = at + 1
    const end = endOfName(body, start)
    if (end === -1 || this.#starts.length >= INPUT_LIMITS.maxDepth) return -1
    this.#nodes++
    const rule = this.#ruleFor(start, end)
    this.#output[this.#to++] = LT
    this.#name(start, end, rule)
    let next = end
    this.#attributeEnds = 0
    while (body[next] === SPACE) {
      next = this.#attribute(next + 1, isRoot && rule === null)
      if (next === -1) return -1
    }
    // Behind the attributes, because those of the root element declare the prefixes.
    if (!this.#isDeclared(start, end)) return -1
    return this.#endOfStartTag(next, start, end, rule)
  }

  #endOfStartTag(at: number, start: number, end: number, rule: Rule | null): number {
    const body = this.#body
    if (body[at] === SLASH && body[at + 1] === GT) {
      this.#close()
      return at + 2
    }
    if (body[at] !== GT) return -1
    const close = at + 1
    // An element without content is written in its short form.
    if (body[close] === LT && body[close + 1] === SLASH) {
      const next = this.#sameName(close + 2, start, end)
      if (next === -1 || body[next] !== GT) return -1
      this.#close()
      return next + 1
    }
    this.#output[this.#to++] = GT
    this.#starts.push(start)
    this.#ends.push(end)
    this.#renamed.push(rule)
    return close
  }

  #close(): void {
    this.#output[this.#to++] = SLASH
    this.#output[this.#to++] = GT
  }

  #endTag(at: number): number {
    const start = this.#starts.pop()!
    const end = this.#ends.pop()!
    const rule = this.#renamed.pop()!
    const next = this.#sameName(at + 2, start, end)
    if (next === -1 || this.#body[next] !== GT) return -1
    this.#output[this.#to++] = LT
    this.#output[this.#to++] = SLASH
    this.#name(start, end, rule)
    this.#output[this.#to++] = GT
    return next + 1
  }

  #name(start: number, end: number, rule: Rule | null): void {
    if (rule === null) {
      this.#take(start, end)
      return
    }
    const { to } = rule
    for (let i = 0; i < to.length; i++) this.#output[this.#to++] = to[i]!
  }

  /** Behind the same bytes once more; -1 when they are others. */
  #sameName(at: number, start: number, end: number): number {
    return isRepeated(this.#body, at, start, end) ? at + end - start : -1
  }

  /** @param canDeclare whether this is an element whose namespace declarations stay where they are. */
  #attribute(at: number, canDeclare: boolean): number {
    const body = this.#body
    const nameEnd = endOfName(body, at)
    if (nameEnd === -1) return -1
    const isDeclaration = isAt(body, XMLNS, at)
    const end = endOfAttribute(body, nameEnd, isDeclaration)
    if (end === -1) return -1
    if (isDeclaration) {
      // Declarations are written before attributes, whatever the order was; one declaration has no order.
      if (!canDeclare || this.#attributeEnds > 0 || this.#prefixes.length > 0) return -1
      if (!this.#declare(at + XMLNS.length, nameEnd)) return -1
    } else if (!this.#isNewAttribute(at, nameEnd)) return -1
    this.#nodes++
    this.#output[this.#to++] = SPACE
    this.#take(at, end)
    return end
  }

  #declare(start: number, end: number): boolean {
    // "xml" and "xmlns" have meanings of their own.
    if (end <= start || (this.#body[start]! | 0x20) === 0x78) return false
    this.#prefixes.push(start, end)
    return true
  }

  #isNewAttribute(start: number, end: number): boolean {
    const body = this.#body
    const attributes = this.#attributes
    // A prefix needs a declaration, and `xmlns` is one.
    for (let i = start; i < end; i++) if (body[i] === COLON) return false
    if (body[start] === 0x78 && end - start === 5 && isAt(body, XMLNS.subarray(0, 5), start)) return false
    if (this.#attributeEnds >= 2 * MAX_ATTRIBUTES) return false
    for (let i = 0; i < this.#attributeEnds; i += 2) {
      if (
        attributes[i + 1]! - attributes[i]! === end - start &&
        isRepeated(body, start, attributes[i]!, attributes[i + 1]!)
      )
        return false
    }
    // The list keeps its length: setting it for each element takes longer than the rest of the element.
    attributes[this.#attributeEnds++] = start
    attributes[this.#attributeEnds++] = end
    return true
  }

  /** Whether the prefix of a name is one that the root element declares. */
  #isDeclared(start: number, end: number): boolean {
    const body = this.#body
    let colon = start
    while (colon < end && body[colon] !== COLON) colon++
    if (colon === end) return true
    const prefixes = this.#prefixes
    for (let i = 0; i < prefixes.length; i += 2) {
      if (
        prefixes[i + 1]! - prefixes[i]! === colon - start &&
        isRepeated(body, start, prefixes[i]!, prefixes[i + 1]!)
      )
        return true
    }
    return false
  }

  #ruleFor(start: number, end: number): Rule | null {
    const candidates = this.#rules[end - start]
    if (candidates === undefined) return null
    for (let i = 0; i < candidates.length; i++) {
      if (isAt(this.#body, candidates[i]!.from, start)) return candidates[i]!
    }
    return null
  }
}
