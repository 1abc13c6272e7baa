import {
  type CompileEnv,
  type Eventual,
  type Exchange,
  hasContentCoding,
  headerJoined,
  type Outcome,
  type Reply,
  refusal,
  type Step,
} from '@sluice/core'
import { boundBody, faultCode, headersOf, replaceBody, type Side } from './message/side.js'
import { onOverload, overloadRefusal } from './overload.js'
import type { Transformed } from './transformed.js'

/** Which bodies are transformed. */
export type TransformedPhase = 'request' | 'response' | 'both'

/** A policy that puts another body in the place of one. */
export interface BodyTransformation {
  readonly name: string
  readonly phase: TransformedPhase
  /** Largest body that is taken, in bytes. */
  readonly maxBodyBytes: number
  /** The content type of the new body, from that of the old one; empty when it had none. */
  readonly contentType: (before: string) => string
  transform(x: Exchange, body: Uint8Array): Transformed | Promise<Transformed>
}

const overloaded = onOverload(overloadRefusal('too many bodies are being transformed; try again'))

/**
 * The hooks of a transformation. Bodies that are empty are left alone: there is nothing to transform. A body in a
 * content coding cannot be read.
 */
export function transformationStep(wanted: BodyTransformation, env: CompileEnv): Step {
  const { name, phase } = wanted
  return {
    name,
    ...(phase !== 'response' && requestHooks(wanted, env)),
    ...(phase !== 'request' && responseHooks(wanted)),
  }
}

function requestHooks(wanted: BodyTransformation, env: CompileEnv): Partial<Step> {
  const { maxBodyBytes } = wanted
  const tooLarge = env.refusal('GW_BODY_TOO_LARGE', `the body is larger than ${maxBodyBytes} bytes`)
  const coded = env.refusal('GW_MEDIA_TYPE', 'the body is in a content coding; send it without one')
  return {
    onRequest(x) {
      boundBody(x, 'request', maxBodyBytes)
      return x.contentLength > maxBodyBytes ? tooLarge : null
    },
    onRequestBody(x, body) {
      if (body.length === 0) return null
      if (body.length > maxBodyBytes) return tooLarge
      return hasContentCoding(x.headers) ? coded : transformed(wanted, 'request', x, body)
    },
  }
}

function responseHooks(wanted: BodyTransformation): Partial<Step> {
  const { maxBodyBytes } = wanted
  return {
    onResponse(x) {
      boundBody(x, 'response', maxBodyBytes)
      return null
    },
    onResponseBody(x, body) {
      if (body.length === 0) return null
      if (body.length > maxBodyBytes) return responseInvalid(`the body is larger than ${maxBodyBytes} bytes`)
      if (hasContentCoding(x.responseHeaders)) return responseInvalid('the body is in a content coding')
      return transformed(wanted, 'response', x, body)
    },
  }
}

function transformed(wanted: BodyTransformation, side: Side, x: Exchange, body: Uint8Array): Eventual {
  const result = wanted.transform(x, body)
  if (result instanceof Promise) {
    return result.then((later) => settled(wanted, side, x, later), overloaded)
  }
  return settled(wanted, side, x, result)
}

function settled(wanted: BodyTransformation, side: Side, x: Exchange, result: Transformed): Outcome {
  if (!(result instanceof Uint8Array)) return refused(side, result.kind, result.detail)
  const before = headerJoined(headersOf(x, side), 'content-type') ?? ''
  replaceBody(x, side, result, wanted.contentType(before))
  return null
}

function refused(side: Side, kind: 'unreadable' | 'refused' | 'failed', detail: string): Reply {
  const code = kind === 'failed' ? 'GW_TRANSFORM_FAILED' : faultCode(side, 'GW_TRANSFORM_INPUT')
  return refusal(code, side === 'request' ? detail : `the answer of the upstream: ${detail}`)
}

function responseInvalid(detail: string): Reply {
  return refused('response', 'unreadable', detail)
}
