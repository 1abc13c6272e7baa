import { isUtf8 } from 'node:buffer'
import { type BodyView, type Exchange, UnreadableBody } from '@sluice/core'
import { type JsonScan, scanJson } from './scan.js'

/** Deepest nesting that is parsed at all; policies allow less. */
export const MAX_JSON_DEPTH = 512
/** Deepest nesting that is read where nobody says otherwise. */
export const DEFAULT_JSON_DEPTH = 64

/** How strictly a body is read. */
export interface JsonReading {
  /** Deepest nesting, at most MAX_JSON_DEPTH. */
  readonly maxDepth?: number
  /** What becomes of an object that has a name twice: refused, or the last one counts, as parsers have it. */
  readonly duplicateKeys?: 'reject' | 'last'
}

/**
 * A body as JSON, parsed once for all that read it. Names such as `__proto__` are members like others. Who wants to
 * change the value parses a copy of his own (`copy`).
 */
export class JsonView implements BodyView {
  readonly #text: string
  readonly #scan: JsonScan
  #hasDuplicates: boolean | null = null
  /** Shared: nobody changes it. */
  readonly value: unknown

  /** @throws UnreadableBody when the body is not JSON in UTF-8, or nests deeper than MAX_JSON_DEPTH. */
  constructor(body: Uint8Array) {
    this.#scan = scanJson(body, MAX_JSON_DEPTH)
    this.checkDepth(MAX_JSON_DEPTH)
    this.#text = textOf(body)
    this.value = parsed(this.#text)
    // Who writes the value again would make `null` or `Infinity` of it.
    if (this.#scan.hasLargeNumber && !areFinite(this.value))
      throw unreadable('has a number that is too large')
  }

  /** @throws UnreadableBody when the value nests deeper than this. */
  checkDepth(maxDepth: number): void {
    if (this.#scan.depth > maxDepth) throw unreadable(`nests deeper than ${maxDepth} levels`)
  }

  /** Whether some object has a name twice, however it is escaped. */
  get hasDuplicateKeys(): boolean {
    this.#hasDuplicates ??= countMembers(this.value) !== this.#scan.members
    return this.#hasDuplicates
  }

  /** The same value once more, for who changes it. */
  copy(): unknown {
    return JSON.parse(this.#text)
  }

  close(): void {}
}

/** The same function for all, so that an exchange parses a body once. */
function makeJsonView(body: Uint8Array): JsonView {
  return new JsonView(body)
}

/** The JSON of one of the exchange's bodies. @throws UnreadableBody when it is none, or not as it has to be. */
export function jsonOf(x: Exchange, body: Uint8Array, reading: JsonReading = {}): JsonView {
  return checkedView(x.viewOf(makeJsonView, body), reading)
}

/** The JSON of bytes that belong to no exchange, such as those that a thread was handed. @throws UnreadableBody */
export function jsonOfBytes(body: Uint8Array, reading: JsonReading = {}): JsonView {
  return checkedView(new JsonView(body), reading)
}

function checkedView(view: JsonView, { maxDepth, duplicateKeys }: JsonReading): JsonView {
  view.checkDepth(maxDepth ?? DEFAULT_JSON_DEPTH)
  if (duplicateKeys === 'reject' && view.hasDuplicateKeys)
    throw new UnreadableBody('GW_BODY_UNPARSABLE', 'the body has an object with a name twice', true)
  return view
}

function textOf(body: Uint8Array): string {
  if (body.length === 0) throw unreadable('is empty; send JSON')
  if (!isUtf8(body)) throw unreadable('is not UTF-8')
  // RFC 8259 section 8.1 forbids to send one, and readers differ in what they make of it.
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) {
    throw unreadable('begins with a byte order mark; leave it out')
  }
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw unreadable(`is not JSON${positionIn(error)}`)
  }
}

/** Where the parser stopped. The rest of its message repeats the text, which has no place in an answer or a log. */
function positionIn(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  const position = / at position (\d{1,10})(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  return position === undefined ? '' : `; it cannot be read from character ${position} on`
}

function unreadable(what: string): UnreadableBody {
  return new UnreadableBody('GW_BODY_UNPARSABLE', `the body ${what}`)
}

/** Whether all numbers in a value, whose depth is bounded, are finite. */
function areFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every(areFinite)
}

/** Members of all objects in a value, whose depth is bounded. */
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
