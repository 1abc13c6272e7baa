import { isAscii, isUtf8 } from 'node:buffer'
import { OFFLOAD_BYTES } from '@sluice/core'
import { DEFAULT_DEPTH } from '../limits.js'
import { isAt, isRepeated } from './bytes.js'
import type { PlainPath, PlainStep } from './plain-path.js'
import {
  contentOf,
  endOfSection,
  endOfSpace,
  endOfText,
  isSpace,
  startOfDocument,
  textOf,
} from './plain-text.js'
import { Scope } from './scope.js'
import { StartTag } from './start-tag.js'

/** Maximum number of bytes to read. A longer body is parsed on a worker thread if nothing is found. */
const MAX_BYTES = OFFLOAD_BYTES

const GT = 0x3e
const SLASH = 0x2f
const BANG = 0x21

const COMMENT = Buffer.from('<!--')
const COMMENT_END = Buffer.from('--')
const CDATA = Buffer.from('<![CDATA[')
const CDATA_END = Buffer.from(']]>')
const NOTHING = new Uint8Array()

/** Result if only the parser can decide. */
const STOP = -1

/**
 * Evaluates a path on the bytes of a document and stops after the first match. It supports only plain documents:
 * UTF-8, names of ASCII letters, no processing instructions, and only predefined references. If the rest of the
 * document is well-formed, the match is the same as in libxml2 (see plain-reader.test.ts).
 */
export class PlainReader {
  readonly #steps: readonly PlainStep[]
  readonly #target: PlainPath['target']
  readonly #isAnywhere: boolean
  /** Bit of the last step in `#found`. */
  readonly #final: number
  /**
   * Data of each open element: start and end of its name, bits of the steps that match it, and number of namespace
   * declarations in scope before it.
   */
  readonly #starts = new Int32Array(DEFAULT_DEPTH + 1)
  readonly #ends = new Int32Array(DEFAULT_DEPTH + 1)
  readonly #found = new Int32Array(DEFAULT_DEPTH + 1)
  readonly #outer = new Int32Array(DEFAULT_DEPTH + 1)
  /** Number of children of each open element that each step has matched. */
  readonly #counts: Int32Array
  readonly #scope = new Scope()
  readonly #tag = new StartTag(this.#scope)
  /** Number of bytes read of the last document with a result. */
  seen = 0
  #body: Uint8Array = NOTHING
  #limit = 0
  #depth = 0
  /** Depth of the element whose content is being collected, or 0. */
  #taking = 0
  #content = ''
  #isDone = false

  constructor({ steps, target, isAnywhere }: PlainPath) {
    this.#steps = steps
    this.#target = target
    this.#isAnywhere = isAnywhere
    this.#final = 1 << steps.length
    this.#counts = new Int32Array((DEFAULT_DEPTH + 1) * steps.length)
  }

  /** Returns the text of the first match, or undefined if only the parser can decide. */
  first(body: Uint8Array): string | undefined {
    this.#body = body
    this.#limit = Math.min(body.length, MAX_BYTES)
    this.#tag.begin(body, this.#limit)
    this.#depth = 0
    this.#scope.begin(body)
    this.#taking = 0
    this.#isDone = false
    this.#open(0, 0, 1)
    const end = this.#read(startOfDocument(body))
    this.#body = NOTHING
    this.#tag.release()
    this.#scope.release()
    // Reset, so that the reader does not keep the text of a document.
    const content = this.#content
    this.#content = ''
    if (end === STOP) return undefined
    this.seen = end
    const read = body.subarray(0, end)
    return isAscii(read) || isUtf8(read) ? content : undefined
  }

  /** Reads to the first match. @returns the position after it, or STOP */
  #read(from: number): number {
    let at = from
    while (at !== STOP) {
      at = this.#markup(at)
      if (this.#isDone || at === STOP) return at
      at = this.#text(at)
      if (this.#isDone) return at
    }
    return STOP
  }

  #markup(at: number): number {
    const next = this.#body[at + 1]
    if (next === SLASH) return this.#endTag(at)
    return next === BANG ? this.#section(at) : this.#startTag(at)
  }

  #text(from: number): number {
    if (this.#depth === 0) return endOfSpace(this.#body, from, this.#limit)
    const end = endOfText(this.#body, from, this.#limit)
    if (end <= from) return end
    if (this.#taking > 0) return this.#take(from, end) ? end : STOP
    if (this.#target === 'text' && this.#isFinal()) {
      this.#isDone = this.#take(from, end)
      return this.#isDone ? end : STOP
    }
    return end
  }

  #isFinal(): boolean {
    return (this.#found[this.#depth]! & this.#final) !== 0
  }

  #take(from: number, end: number): boolean {
    const text = contentOf(this.#body, from, end)
    if (text !== null) this.#content += text
    return text !== null
  }

  #section(at: number): number {
    const body = this.#body
    if (isAt(body, COMMENT, at)) {
      const end = endOfSection(body, at + COMMENT.length, COMMENT_END, this.#limit)
      return end !== STOP && body[end + 2] === GT ? end + 3 : STOP
    }
    if (this.#depth === 0 || !isAt(body, CDATA, at)) return STOP
    const start = at + CDATA.length
    const end = endOfSection(body, start, CDATA_END, this.#limit)
    if (end === STOP || (this.#target === 'text' && this.#isFinal())) return STOP
    if (this.#taking > 0 && !this.#takeRaw(start, end)) return STOP
    return end + CDATA_END.length
  }

  #takeRaw(from: number, end: number): boolean {
    const text = textOf(this.#body, from, end)
    this.#content += text
    return !text.includes('\r')
  }

  #startTag(at: number): number {
    const outer = this.#scope.count
    const tag = this.#tag
    const next = tag.read(at)
    if (next === STOP || this.#depth === DEFAULT_DEPTH) return STOP
    const found = this.#stepsTo(tag)
    if (found === STOP) return STOP
    this.#depth++
    this.#outer[this.#depth] = outer
    this.#open(tag.start, tag.end, found)
    if (this.#taking === 0 && this.#isFinal() && !this.#reach(tag)) return STOP
    return tag.isEmpty && !this.#isDone ? this.#close(next) : next
  }

  #open(start: number, end: number, found: number): void {
    const depth = this.#depth
    this.#starts[depth] = start
    this.#ends[depth] = end
    this.#found[depth] = found
    const steps = this.#steps.length
    for (let i = 0, at = depth * steps; i < steps; i++) this.#counts[at + i] = 0
  }

  /** Returns the steps that match this child of the current element as bits, or STOP if only the parser can decide. */
  #stepsTo(tag: StartTag): number {
    const steps = this.#steps
    const from = this.#isAnywhere ? this.#found[this.#depth]! | 1 : this.#found[this.#depth]!
    let found = 0
    for (let i = 0; i < steps.length; i++) {
      if (((from >> i) & 1) === 0 || !this.#hasName(tag, steps[i]!)) continue
      const isHere = this.#meets(tag, steps[i]!, i)
      if (isHere === null) return STOP
      if (isHere) found |= 2 << i
    }
    return found
  }

  #hasName({ local: start, end, binding }: StartTag, { local, namespace }: PlainStep): boolean {
    if (local !== null && (end - start !== local.length || !isAt(this.#body, local, start))) return false
    return namespace === null || this.#scope.isFor(binding, namespace)
  }

  /** Returns true if an element meets the predicate of a step, or null if only the parser can decide. */
  #meets(tag: StartTag, { position, attribute }: PlainStep, step: number): boolean | null {
    if (position > 0) return ++this.#counts[this.#depth * this.#steps.length + step]! === position
    if (attribute === null) return true
    const index = tag.find(attribute.name, NOTHING)
    if (index === -1) return false
    const value = tag.valueOf(index)
    return value === null ? null : value === attribute.value
  }

  /**
   * Starts reading the result from an element that the last step matches.
   * @returns false if only the parser can decide
   */
  #reach(tag: StartTag): boolean {
    if (this.#target === 'content') {
      this.#taking = this.#depth
      return true
    }
    if (this.#target === 'text') return true
    const index = tag.find(this.#target.local, this.#target.namespace)
    if (index === -1) return true
    const value = tag.valueOf(index)
    if (value !== null) this.#content = value
    this.#isDone = value !== null
    return this.#isDone
  }

  #endTag(at: number): number {
    const body = this.#body
    const start = this.#starts[this.#depth]!
    const end = this.#ends[this.#depth]!
    if (this.#depth === 0 || !isRepeated(body, at + 2, start, end)) return STOP
    let close = at + 2 + end - start
    while (close < this.#limit && isSpace(body[close]!)) close++
    return body[close] === GT && close < this.#limit ? this.#close(close + 1) : STOP
  }

  /** Closes the current element. @param next position after the element. */
  #close(next: number): number {
    if (this.#taking === this.#depth) this.#isDone = true
    this.#scope.count = this.#outer[this.#depth]!
    this.#depth--
    // Content after the root element, and a missing root element, are left to the parser.
    return this.#depth > 0 || this.#isDone ? next : STOP
  }
}
