import {
  type ErrorCode,
  type Exchange,
  type HeaderList,
  headerJoined,
  type Outcome,
  type Reply,
  refusal,
  type Step,
} from '@sluice/core'
import { isChecked } from '../engines/json-schema/report.js'
import { hooksOn, type MessageHooks } from './message/hooks.js'
import { announcesCoding, boundBody, faultCode, headersOf, replaceBody, type Side } from './message/side.js'
import { onOverload, overloadRefusal } from './overload.js'
import { type BodyKind, bodyKindOf } from './text/body-text.js'
import type { Transformed } from './transformed.js'

/** A policy that puts another body in the place of one. */
export interface BodyTransformation {
  readonly name: string
  readonly phase: Side | 'both'
  /** Largest body that is taken, in bytes. */
  readonly maxBodyBytes: number
  /** Whether a body says that it is of the kind that is read. */
  readonly isInput: (kind: BodyKind) => boolean
  /** Returns the reason why a body with these fields cannot be read, or null. */
  readonly flaw: (headers: HeaderList) => string | null
  /** The content type of the new body, from that of the old one; empty when it had none. */
  readonly contentType: (before: string) => string
  transform(x: Exchange, body: Uint8Array): Transformed | Promise<Transformed>
}

const overloaded = onOverload(overloadRefusal('too many bodies are being transformed; try again'))

/**
 * The hooks of a transformation. Bodies that are empty are left alone: there is nothing to transform. A body in a
 * content coding cannot be read, and is refused whatever its size; so is one in a charset that is not read.
 */
export function transformationStep(wanted: BodyTransformation): Step {
  return { name: wanted.name, ...hooksOn(wanted.phase, (side) => hooksOf(wanted, side)) }
}

function hooksOf(wanted: BodyTransformation, side: Side): MessageHooks {
  const { maxBodyBytes } = wanted
  const tooLarge = refused(side, 'GW_BODY_TOO_LARGE', `the body is larger than ${maxBodyBytes} bytes`)
  const unread = (x: Exchange): Outcome => {
    const flaw = wanted.flaw(headersOf(x, side))
    return flaw === null ? null : refused(side, 'GW_MEDIA_TYPE', `the body ${flaw}`)
  }
  return {
    head(x) {
      if (!isMeant(wanted, side, x)) return null
      if (announcesCoding(x, side)) return unread(x)
      boundBody(x, side, maxBodyBytes)
      return side === 'request' && x.contentLength > maxBodyBytes ? tooLarge : null
    },
    body(x, body) {
      if (body.length === 0 || !isMeant(wanted, side, x)) return null
      const flawed = unread(x)
      if (flawed !== null) return flawed
      if (body.length > maxBodyBytes) return tooLarge
      const result = wanted.transform(x, body)
      return result instanceof Promise
        ? result.then((later) => settled(wanted, side, x, later), overloaded)
        : settled(wanted, side, x, result)
    },
  }
}

/**
 * Whether a message is one to transform. A part of a document (206) never is. An error is when it is of the kind that
 * is read, such as a SOAP fault: a page of some proxy has to reach the client as what it is, with its status.
 */
function isMeant({ isInput }: BodyTransformation, side: Side, x: Exchange): boolean {
  if (side === 'request' || isChecked(x, side)) return true
  return x.status >= 300 && isInput(bodyKindOf(x.responseHeaders))
}

function settled(wanted: BodyTransformation, side: Side, x: Exchange, result: Transformed): Outcome {
  if (!(result instanceof Uint8Array)) {
    return refused(
      side,
      result.kind === 'failed' ? 'GW_TRANSFORM_FAILED' : 'GW_TRANSFORM_INPUT',
      result.detail,
    )
  }
  const before = headerJoined(headersOf(x, side), 'content-type') ?? ''
  replaceBody(x, side, result, wanted.contentType(before))
  return null
}

/** A transformation that fails is the gateway's fault on either side. */
function refused(side: Side, code: ErrorCode, detail: string): Reply {
  if (side === 'request') return refusal(code, detail)
  const fault = code === 'GW_TRANSFORM_FAILED' ? code : faultCode(side, code)
  return refusal(fault, `the answer of the upstream: ${detail}`)
}
