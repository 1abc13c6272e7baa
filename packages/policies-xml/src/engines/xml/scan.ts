import type { XmlLimits } from './limits.js'
import { unreadableXml } from './unreadable-xml.js'

/** Size of a document as a tree. Exact for every document that the parser accepts. */
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
 * Scans the bytes of a document in one pass to determine its size as a tree. It recognizes markup only as far as
 * counting requires and leaves most well-formedness errors to the parser.
 *
 * @param bytes document in an encoding with ASCII markup.
 * @throws UnreadableBody for a DOCTYPE, for a document beyond the limits, and for unterminated markup, for which a
 * parser could allocate much memory before it notices.
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
      throw unreadableXml('is not well-formed XML: a tag, comment or section is invalid or unterminated')
    at = skipTo(bytes, LT, at)
  }
  return { depth: count.deepest, nodes: count.nodes }
}

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

/** Returns the position of a byte, or -1. A loop is faster than indexOf for short texts and names. */
function skipTo(bytes: Buffer, wanted: number, from: number): number {
  for (let i = from; i < bytes.length; i++) if (bytes[i] === wanted) return i
  return -1
}

/** Returns the position after a start tag, or -1 if it is unterminated. */
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

/** Returns the position after a comment, a CDATA section or a processing instruction, or -1 if it is unterminated. */
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

/** Creates the refusal of a document type declaration, which entities and external files would require. */
export function hasDoctype(): Error {
  return unreadableXml('has a DOCTYPE, which is not allowed; send the document without it')
}
