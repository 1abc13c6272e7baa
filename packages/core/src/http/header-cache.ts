import { flattenString, internString } from '../lib/flatten-string.js'

const FIELDS = 128
const HEADS = 16
/** Longer values (cookies, tokens) and longer heads are not cached. This bounds the memory. */
const MAX_VALUE_LENGTH = 200
const MAX_LINES_LENGTH = 2048
/** Number of consecutive misses after which a slot is written only once per counter cycle. */
const MAX_MISSES = 8

/**
 * Formats a header field as a line of the message head. Returns an empty string if the field has no line.
 * Returns null if the field is invalid, for example because of a character above U+00FF.
 */
export type FormLine = (name: string, value: string) => string | null

/** A field and its line. All strings are internalized, so comparing them compares pointers. */
export interface CachedField {
  readonly name: string
  readonly value: string
  readonly line: string
}

interface CachedHead {
  /** Alternating names and values, internalized. */
  readonly fields: readonly string[]
  readonly lines: string
}

/**
 * Cache of recently used header fields and complete heads with their formatted lines. Most messages of a
 * client or target repeat the fields of the previous message, so these need not be validated and formatted
 * again.
 *
 * There is one slot per name hash and one per number of fields. Slot contents are always compared in full. A
 * hash collision therefore costs time but never gives a wrong result.
 *
 * Measured with a GET with eight fields, relative CPU time: 1.11 without cached heads. With a changing
 * traceparent field: 1.19 without cached fields. Without the cache for received fields: 1.07 and 1.11.
 */
export class HeaderCache {
  readonly #form: FormLine
  readonly #fields: (CachedField | null)[] = new Array<CachedField | null>(FIELDS).fill(null)
  readonly #fieldMisses = new Uint8Array(FIELDS)
  readonly #heads: (CachedHead | null)[] = new Array<CachedHead | null>(HEADS).fill(null)
  readonly #headMisses = new Uint8Array(HEADS)

  constructor(form: FormLine) {
    this.#form = form
  }

  /** Returns the cached field with this name and value, or null. */
  find(name: string, value: string): CachedField | null {
    const slot = fieldSlot(name)
    const field = this.#fields[slot]!
    if (field === null || field.name !== name || field.value !== value) return null
    this.#fieldMisses[slot] = 0
    return field
  }

  /** Returns the formatted line of a field, or null if it is invalid. */
  line(name: string, value: string): string | null {
    const field = this.find(name, value)
    if (field !== null) return field.line
    const line = this.#form(name, value)
    if (line !== null && line !== '') this.#keepField({ name, value, line })
    return line
  }

  /**
   * Returns the formatted lines of a header list, or null if one of the fields is invalid. The request ID
   * differs in every head, but the gateway generates it, so it needs no validation. It is the last field,
   * unless a policy has added others. So is the traceparent, which follows it. Empty if there is none.
   */
  lines(list: readonly string[], id: string, traceparent = ''): string | null {
    const last = list.length - 2
    if (traceparent === '' || last < 0 || list[last + 1] !== traceparent || list[last] !== 'traceparent')
      return this.#linesUpTo(list, list.length, id)
    const lines = this.#linesUpTo(list, last, id)
    return lines === null ? null : lines + '\r\ntraceparent: ' + traceparent
  }

  /** @param length Number of list entries to format. */
  #linesUpTo(list: readonly string[], length: number, id: string): string | null {
    const end = length - 2
    if (end < 0 || list[end + 1] !== id || list[end] !== 'x-request-id') return this.#join(list, length)
    const head = this.#findHead(list, end)
    if (head !== null) return head.lines + id
    const lines = this.#join(list, end)
    if (lines === null) return null
    const withId = lines + '\r\nx-request-id: '
    this.#keepHead(list, end, withId)
    return withId + id
  }

  /** @param end Number of list entries to format. */
  #join(list: readonly string[], end: number): string | null {
    let lines = ''
    for (let i = 0; i < end; i += 2) {
      const line = this.line(list[i]!, list[i + 1]!)
      if (line === null) return null
      lines += line
    }
    return lines
  }

  #findHead(list: readonly string[], end: number): CachedHead | null {
    const slot = headSlot(end)
    const head = this.#heads[slot]!
    if (head === null || head.fields.length !== end) return null
    const { fields } = head
    for (let i = 0; i < end; i++) if (list[i] !== fields[i]) return null
    this.#headMisses[slot] = 0
    return head
  }

  #keepField({ name, value, line }: CachedField): void {
    const slot = fieldSlot(name)
    if (!isWorthKeeping(this.#fieldMisses, slot) || value.length > MAX_VALUE_LENGTH) return
    this.#fields[slot] = { name: internString(name), value: internString(value), line: flattenString(line) }
  }

  #keepHead(list: readonly string[], end: number, lines: string): void {
    const slot = headSlot(end)
    if (!isWorthKeeping(this.#headMisses, slot) || lines.length > MAX_LINES_LENGTH) return
    const fields: string[] = []
    for (let i = 0; i < end; i++) {
      if (list[i]!.length > MAX_VALUE_LENGTH) return
      fields.push(internString(list[i]!))
    }
    this.#heads[slot] = { fields, lines: flattenString(lines) }
  }
}

function fieldSlot(name: string): number {
  const { length } = name
  return (length * 59 + name.charCodeAt(length - 1) * 5 + name.charCodeAt(length >> 1)) & (FIELDS - 1)
}

function headSlot(end: number): number {
  return (end >> 1) & (HEADS - 1)
}

/**
 * Returns false for most writes to a slot that keeps missing. Its content differs in every message, so
 * writing it each time would cost more than it saves.
 */
function isWorthKeeping(misses: Uint8Array, slot: number): boolean {
  const count = (misses[slot]! + 1) & 0xff
  misses[slot] = count === 0 ? MAX_MISSES : count
  return count <= MAX_MISSES
}
