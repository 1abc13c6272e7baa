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
import { codingIssue } from '../../engines/json/coding.js'
import { type JsonView, jsonOf, jsonOfBytes } from '../../engines/json/view.js'
import { announcesCoding, faultCode, headersOf, type Side } from '../message/side.js'
import { onOverload } from '../overload.js'
import { type BodyKind, bodyKindOf, isReadable } from './body-text.js'

/** A body that is read as text; it can be cloned. */
export interface BodyInput {
  readonly body: Uint8Array
  readonly kind: BodyKind
}

/** Reads a body. @throws UnreadableBody when it says that it is JSON, and has to be, and is not. */
type Read<A> = (input: BodyInput, json: () => JsonView) => A

/** What a thread answers; errors do not keep their class on the way. */
export type Reading<A> = A | { readonly mistake: string }

/** How a policy reads the bodies of a message. */
interface BodyReading<A> {
  readonly side: Side
  readonly maxBytes: number
  /** What becomes of a body above `maxBytes`; with `beginning` that much of it is read. */
  readonly larger: Outcome | 'beginning'
  /** For a body in a content coding, or in a charset that cannot be read. */
  readonly coded: Reply
  readonly overloaded: Reply
  /** Does what `readingWork` does. */
  readonly threads: Offload<BodyInput, Reading<A>>
  readonly read: Read<A>
  settle(x: Exchange, answer: A): Outcome
}

/** What is done with messages whose bodies are read. */
export interface ReadingHooks {
  /** Refuses what the head shows to be unreadable. */
  head(x: Exchange): Outcome
  body(x: Exchange, body: Uint8Array): Eventual
}

/** The hooks for bodies that are read: short ones here and at once, others on a thread. */
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
    // JSON is read as UTF-8, whatever else can be read.
    const isJson = isJsonType(kind.type)
    if (isJson ? codingIssue(headersOf(x, side)) !== null : !isReadable(kind)) return coded
    const isLarge = whole.length > maxBytes
    if (isLarge && larger !== 'beginning') return larger
    const input = { body: isLarge ? whole.subarray(0, maxBytes) : whole, kind }
    if (input.body.length >= OFFLOAD_BYTES) {
      return threads.run(input, x).then((answer) => settle(x, answer), overloaded)
    }
    const answer = readingOf(read, input, () => jsonOf(x, whole))
    return settle(x, answer)
  }
  return { head: (x) => (announcesCoding(x, side) ? coded : null), body }
}

/** The work of a thread that reads large bodies. */
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
