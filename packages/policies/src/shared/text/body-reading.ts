import {
  type Eventual,
  type Exchange,
  isJsonType,
  OFFLOAD_BYTES,
  type Offload,
  type Outcome,
  type Reply,
  UnreadableBody,
} from '@sluice/core'
import { codingIssue } from '../json/coding.js'
import { type JsonView, jsonOf, jsonOfBytes } from '../json/view.js'
import { announcesCoding, faultCode, headersOf, type Side } from '../message/side.js'
import { onOverload } from '../outcome/overload.js'
import { type BodyKind, bodyKindOf, isReadable } from './body-text.js'

/** A body to read as text. It can be cloned for a worker thread. */
export interface BodyInput {
  readonly body: Uint8Array
  readonly kind: BodyKind
}

/** Reads a body. @throws UnreadableBody if it must be JSON and is not. */
type Read<A> = (input: BodyInput, json: () => JsonView) => A

/** Result of a worker thread. Errors lose their class on the way, so they are returned as data. */
export type Reading<A> = A | { readonly mistake: string }

/** Options for reading the bodies of a message. */
interface BodyReading<A> {
  readonly side: Side
  readonly maxBytes: number
  /** Outcome for a body above `maxBytes`; `beginning` reads that many bytes of it. */
  readonly larger: Outcome | 'beginning'
  /** Refusal of a body with a content coding or an unsupported charset. */
  readonly coded: Reply
  readonly overloaded: Reply
  /** Worker threads that execute `readingWork`. */
  readonly threads: Offload<BodyInput, Reading<A>>
  readonly read: Read<A>
  settle(x: Exchange, answer: A): Outcome
}

/** Hooks that read the bodies of messages. */
export interface ReadingHooks {
  /** Refuses bodies that are unreadable according to the head. */
  head(x: Exchange): Outcome
  body(x: Exchange, body: Uint8Array): Eventual
}

/** Creates the hooks. Short bodies are read at once, others on a worker thread. */
export function readingHooks<A extends object>(reading: BodyReading<A>): ReadingHooks {
  const { side, maxBytes, larger, coded, threads, read } = reading
  const overloaded = onOverload(reading.overloaded)
  const settle = (x: Exchange, answer: Reading<A>): Outcome => {
    if (!('mistake' in answer)) return reading.settle(x, answer)
    throw new UnreadableBody(faultCode(side, 'GW_BODY_UNPARSABLE'), answer.mistake)
  }
  const body = (x: Exchange, whole: Uint8Array): Eventual => {
    if (whole.length === 0) return null
    const kind = bodyKindOf(headersOf(x, side))
    // JSON is always read as UTF-8.
    const isJson = isJsonType(kind.type)
    if (isJson ? codingIssue(headersOf(x, side)) !== null : !isReadable(kind)) return coded
    const isLarge = whole.length > maxBytes
    if (isLarge && larger !== 'beginning') return larger
    const input = { body: isLarge ? whole.subarray(0, maxBytes) : whole, kind }
    if (input.body.length >= OFFLOAD_BYTES)
      return threads.run(input, x).then((answer) => settle(x, answer), overloaded)
    const answer = readingOf(read, input, () => jsonOf(x, whole))
    return settle(x, answer)
  }
  return { head: (x) => (announcesCoding(x, side) ? coded : null), body }
}

/** Creates the function that reads large bodies on a worker thread. */
export function readingWork<A>(read: Read<A>): (input: BodyInput) => Reading<A> {
  return (input) => readingOf(read, input, () => jsonOfBytes(input.body))
}

function readingOf<A>(read: Read<A>, input: BodyInput, json: () => JsonView): Reading<A> {
  try {
    return read(input, json)
  } catch (error) {
    if (error instanceof UnreadableBody) return { mistake: error.message }
    throw error
  }
}
