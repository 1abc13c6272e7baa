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
import { hooksOn, type MessageHooks } from '../message/hooks.js'
import {
  announcesCoding,
  faultCode,
  headersOf,
  isChecked,
  limitBody,
  replaceBody,
  type Side,
} from '../message/side.js'
import { onOverload, overloadRefusal } from '../outcome/overload.js'
import { type BodyKind, bodyKindOf } from '../text/body-text.js'
import type { Transformed } from './transformed.js'

/** A policy that replaces bodies. */
export interface BodyTransformation {
  readonly name: string
  readonly phase: Side | 'both'
  /** Maximum body size in bytes. */
  readonly maxBodyBytes: number
  /** Returns true if the headers declare a body kind that the policy reads. */
  readonly isInput: (kind: BodyKind) => boolean
  /** Returns the reason why a body with these headers cannot be read, or null. */
  readonly issue: (headers: HeaderList) => string | null
  /** Returns the content type of the new body from that of the old one, which is empty if there was none. */
  readonly contentType: (before: string) => string
  transform(x: Exchange, body: Uint8Array): Transformed | Promise<Transformed>
}

const overloaded = onOverload(overloadRefusal('too many bodies are being transformed; try again'))

/**
 * Creates the hooks of a transformation. Empty bodies are skipped. A body with a content coding or an unsupported
 * charset is refused, whatever its size.
 */
export function transformationStep(wanted: BodyTransformation): Step {
  return { name: wanted.name, ...hooksOn(wanted.phase, (side) => hooksOf(wanted, side)) }
}

function hooksOf(wanted: BodyTransformation, side: Side): MessageHooks {
  const { maxBodyBytes } = wanted
  const tooLarge = refused(side, 'GW_BODY_TOO_LARGE', `the body is larger than ${maxBodyBytes} bytes`)
  const unread = (x: Exchange): Outcome => {
    const issue = wanted.issue(headersOf(x, side))
    return issue === null ? null : refused(side, 'GW_MEDIA_TYPE', `the body ${issue}`)
  }
  return {
    head(x) {
      if (!isMeant(wanted, side, x)) return null
      if (announcesCoding(x, side)) return unread(x)
      limitBody(x, side, maxBodyBytes)
      return side === 'request' && x.contentLength > maxBodyBytes ? tooLarge : null
    },
    body(x, body) {
      if (body.length === 0 || !isMeant(wanted, side, x)) return null
      const refusedCoding = unread(x)
      if (refusedCoding !== null) return refusedCoding
      if (body.length > maxBodyBytes) return tooLarge
      const result = wanted.transform(x, body)
      return result instanceof Promise
        ? result.then((later) => settled(wanted, side, x, later), overloaded)
        : settled(wanted, side, x, result)
    },
  }
}

/**
 * Returns true if a message is to be transformed. A partial response (206) never is. An error response is transformed
 * only if its body has a readable kind, such as a SOAP fault. An error page of a proxy must reach the client
 * unchanged, with its status.
 */
function isMeant({ isInput }: BodyTransformation, side: Side, x: Exchange): boolean {
  if (side === 'request' || isChecked(x, side)) return true
  return x.status >= 300 && isInput(bodyKindOf(x.responseHeaders))
}

function settled(wanted: BodyTransformation, side: Side, x: Exchange, result: Transformed): Outcome {
  if (!(result instanceof Uint8Array))
    return refused(
      side,
      result.kind === 'failed' ? 'GW_TRANSFORM_FAILED' : 'GW_TRANSFORM_INPUT',
      result.detail,
    )
  const before = headerJoined(headersOf(x, side), 'content-type') ?? ''
  replaceBody(x, side, result, wanted.contentType(before))
  return null
}

/** Creates a refusal. A failed transformation is the gateway's fault on either side. */
function refused(side: Side, code: ErrorCode, detail: string): Reply {
  if (side === 'request') return refusal(code, detail)
  const fault = code === 'GW_TRANSFORM_FAILED' ? code : faultCode(side, code)
  return refusal(fault, `the response of the upstream: ${detail}`)
}
