import { isUtf8 } from 'node:buffer'
import { type BodyView, type Exchange, UnreadableBody } from '@sluice/core'
import { type JsonScan, scanJson } from './scan.js'

/** Maximum nesting depth that is parsed at all. Policies may allow less. */
export const MAX_JSON_DEPTH = 512
/** Default maximum nesting depth. */
export const DEFAULT_JSON_DEPTH = 64

/** Options for reading a JSON body. */
export interface JsonReading {
  /** Maximum nesting depth, at most MAX_JSON_DEPTH. */
  readonly maxDepth?: number
  /** Handling of duplicate names in an object: refuse the body, or use the last value as parsers do. */
  readonly duplicateKeys?: 'refuse' | 'last'
}

/**
 * A body as JSON, parsed once for all its readers. Names such as `__proto__` are ordinary members. Use `copy` to get
 * a value that may be changed.
 */
export class JsonView implements BodyView {
  readonly #text: string
  readonly #scan: JsonScan
  #hasDuplicates: boolean | null = null
  /** The shared value. Must not be changed. */
  readonly value: unknown

  /** Parses a body. @throws UnreadableBody if the body is not JSON in UTF-8, or nests deeper than MAX_JSON_DEPTH. */
  constructor(body: Uint8Array) {
    this.#scan = scanJson(body, MAX_JSON_DEPTH)
    this.checkDepth(MAX_JSON_DEPTH)
    this.#text = textOf(body)
    this.value = parsed(this.#text)
    // Infinity would become `null` or `Infinity` when the value is serialized again.
    if (this.#scan.hasLargeNumber && !areFinite(this.value))
      throw unreadable('has a number that is too large')
  }

  /** Checks the nesting depth. @throws UnreadableBody if the value nests deeper than `maxDepth`. */
  checkDepth(maxDepth: number): void {
    if (this.#scan.depth > maxDepth) throw unreadable(`nests deeper than ${maxDepth} levels`)
  }

  /** True if an object has a duplicate name, even if it is escaped differently. */
  get hasDuplicateKeys(): boolean {
    this.#hasDuplicates ??= countMembers(this.value) !== this.#scan.members
    return this.#hasDuplicates
  }

  /** Returns a separate copy of the value, which may be changed. */
  copy(): unknown {
    return JSON.parse(this.#text)
  }

  close(): void {}
}

/** Creates a view. Shared by all callers, because an exchange caches its views by this function. */
function makeJsonView(body: Uint8Array): JsonView {
  return new JsonView(body)
}

/** Returns one of the exchange's bodies as JSON. @throws UnreadableBody if it is not JSON or violates the options. */
export function jsonOf(x: Exchange, body: Uint8Array, reading: JsonReading = {}): JsonView {
  return checkedView(x.viewOf(makeJsonView, body), reading)
}

/** Parses bytes that do not belong to an exchange, such as those on a worker thread. @throws UnreadableBody */
export function jsonOfBytes(body: Uint8Array, reading: JsonReading = {}): JsonView {
  return checkedView(new JsonView(body), reading)
}

function checkedView(view: JsonView, { maxDepth, duplicateKeys }: JsonReading): JsonView {
  view.checkDepth(maxDepth ?? DEFAULT_JSON_DEPTH)
  if (duplicateKeys === 'refuse' && view.hasDuplicateKeys)
    throw new UnreadableBody('GW_BODY_UNPARSABLE', 'the body has an object with a duplicate name', true)
  return view
}

function textOf(body: Uint8Array): string {
  if (body.length === 0) throw unreadable('is empty; send JSON')
  if (!isUtf8(body)) throw unreadable('is not UTF-8')
  // RFC 8259 section 8.1 forbids a byte order mark, and parsers handle it differently.
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf)
    throw unreadable('begins with a byte order mark; remove it')
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw unreadable(`is not JSON${positionIn(error)}`)
  }
}

/**
 * Returns the position at which the parser stopped. The rest of its message quotes the text, which must not reach
 * responses and logs.
 */
function positionIn(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  const position = / at position (\d{1,10})(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  return position === undefined ? '' : `; syntax error at character ${position}`
}

function unreadable(what: string): UnreadableBody {
  return new UnreadableBody('GW_BODY_UNPARSABLE', `the body ${what}`)
}

/** Returns true if all numbers in a value are finite. The depth of the value must be limited. */
function areFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every(areFinite)
}

/** Counts the members of all objects in a value. The depth of the value must be limited. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) count += countMembers(value[i])
    return count
  }
  const members = Object.values(value)
  count = members.length
  for (let i = 0; i < members.length; i++) count += countMembers(members[i])
  return count
}
