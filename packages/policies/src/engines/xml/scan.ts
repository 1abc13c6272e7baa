import type { XmlLimits } from './limits.js'
import { unreadableXml } from './unreadable-xml.js'

/** How large a document is as a tree; exact for every document that the parser takes. */
export interface XmlShape {
  readonly depth: number
  readonly nodes: number
}

const LT = 0x3c
const GT = 0x3e
const SLASH = 0x2f
const BANG = 0x21
const QUESTION = 0x3f
const EQUALS = 0x3d
const QUOTE = 0x22
const APOSTROPHE = 0x27
const DASH = 0x2d
const BRACKET = 0x5b

const COMMENT_END = Buffer.from('-->')
const CDATA_END = Buffer.from(']]>')
const INSTRUCTION_END = Buffer.from('?>')
const DOCTYPE = Buffer.from('<!DOCTYPE')

/**
 * Counts what a document would make of memory before anything is made of it, in one pass over its bytes. It knows
 * markup just well enough to count: most of what is not well-formed is left to the parser, which stops there.
 *
 * @param bytes in an encoding whose markup is ASCII.
 * @throws UnreadableBody for a DOCTYPE, for more than the limits allow, and for markup without an end, of which a parser
 * would make much before it comes to the end of the bytes.
 */
export function scanXml(bytes: Buffer, limits: XmlLimits): XmlShape {
  const count = new Count(limits)
  let at = bytes.indexOf(LT)
  while (at !== -1 && at + 1 < bytes.length) {
    const next = bytes[at + 1]
    if (next === SLASH) {
      count.depth--
      at = skipTo(bytes, GT, at + 2)
    } else if (next === BANG || next === QUESTION) {
      count.node()
      at = afterSpecial(bytes, at)
    } else {
      count.enter()
      at = afterTag(bytes, at + 1, count)
    }
    if (at === -1)
      throw unreadableXml('is not well-formed XML: a tag, comment or section in it is broken or has no end')
    at = skipTo(bytes, LT, at)
  }
  return { depth: count.deepest, nodes: count.nodes }
}

/** What was seen so far. */
class Count {
  depth = 0
  deepest = 0
  nodes = 0
  readonly limits: XmlLimits

  constructor(limits: XmlLimits) {
    this.limits = limits
  }

  node(): void {
    this.nodes++
    const { maxNodes } = this.limits
    if (this.nodes > maxNodes) throw unreadableXml(`has more than ${maxNodes} elements and attributes`)
  }

  enter(): void {
    this.node()
    this.depth++
    if (this.depth <= this.deepest) return
    this.deepest = this.depth
    const { maxDepth } = this.limits
    if (this.depth > maxDepth) throw unreadableXml(`has elements nested deeper than ${maxDepth}`)
  }
}

/** A byte loop: texts and names are short, so that calling indexOf for each takes longer. */
function skipTo(bytes: Buffer, wanted: number, from: number): number {
  for (let i = from; i < bytes.length; i++) if (bytes[i] === wanted) return i
  return -1
}

/** After a start tag; -1 when it has no end. */
function afterTag(bytes: Buffer, from: number, count: Count): number {
  const { maxAttributes } = count.limits
  let attributes = 0
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === GT) {
      if (bytes[i - 1] === SLASH) count.depth--
      return i + 1
    }
    if (byte === EQUALS) {
      count.node()
      attributes++
      if (attributes > maxAttributes)
        throw unreadableXml(`has an element with more than ${maxAttributes} attributes`)
    } else if (byte === QUOTE || byte === APOSTROPHE) {
      i = skipTo(bytes, byte, i + 1)
      if (i === -1) return -1
    }
  }
  return -1
}

/** After a comment, a CDATA section or a processing instruction; -1 when it has no end. */
function afterSpecial(bytes: Buffer, at: number): number {
  if (bytes[at + 1] === QUESTION) return after(bytes, INSTRUCTION_END, at + 2)
  if (bytes[at + 2] === DASH) return after(bytes, COMMENT_END, at + 4)
  if (bytes[at + 2] === BRACKET) return after(bytes, CDATA_END, at + 9)
  if (bytes.subarray(at, at + DOCTYPE.length).equals(DOCTYPE)) throw hasDoctype()
  return -1
}

function after(bytes: Buffer, end: Buffer, from: number): number {
  const found = bytes.indexOf(end, from)
  return found === -1 ? -1 : found + end.length
}

/** The refusal of a document type declaration, which entities and external files need. */
export function hasDoctype(): Error {
  return unreadableXml('has a DOCTYPE, which is not accepted; send the document without it')
}
