import {
  type CompileEnv,
  type Eventual,
  type Exchange,
  OFFLOAD_BYTES,
  type Offload,
  type Outcome,
  type Reply,
  UnreadableBody,
} from '@sluice/core'
import { jsonOf } from '../json/view.js'
import { faultCode, headersOf, replaceBody, type Side } from '../message/side.js'
import { onOverload, overloadRefusal } from '../overload.js'
import { bodyKindOf, isReadable } from '../text/body-text.js'
import type { BodyFilter, BodyInput } from './body.js'
import { answerOf, type BodyAnswer, type BodyWorkConfig } from './body-work.js'
import type { Rule } from './rules.js'
import type { ContentFilterConfig } from './schema.js'

/** What looking at the bodies of a message needs. */
export interface BodyHookOptions {
  readonly config: ContentFilterConfig
  readonly side: Side
  readonly rules: readonly Rule[]
  readonly filter: BodyFilter
  readonly maxBytes: number
  readonly blocked: Reply
  blocks(x: Exchange, found: readonly Rule[]): boolean
}

/** The hook for the bodies of a message. */
export function bodyHook(
  options: BodyHookOptions,
  env: CompileEnv,
): (x: Exchange, body: Uint8Array) => Eventual {
  const { config, side, filter, maxBytes } = options
  const offloaded: BodyWorkConfig = { config, side }
  const threads: Offload<BodyInput, BodyAnswer> = env.offload(
    new URL('./body-work.js', import.meta.url),
    offloaded,
  )
  const refusals = refusalsOf(side, config, env)
  const overloaded = onOverload(overloadRefusal('too many bodies are being checked; try again later'))
  return (x, whole) => {
    if (whole.length === 0) return null
    const kind = bodyKindOf(headersOf(x, side))
    if (!isReadable(kind)) return refusals.unreadable
    const isLarge = whole.length > maxBytes
    if (isLarge && (config.onExceed ?? 'block') === 'block') return refusals.tooLarge
    if (isLarge && config.onExceed === 'pass') return null
    if (isLarge && filter.needsWhole) return refusals.tooLarge
    const body = isLarge ? whole.subarray(0, maxBytes) : whole
    const input = { body, kind }
    if (body.length < OFFLOAD_BYTES) {
      return settle(
        x,
        answerOf(filter, input, () => jsonOf(x, whole)),
        options,
      )
    }
    return threads.run(input).then((answer) => settle(x, answer, options), overloaded)
  }
}

function settle(x: Exchange, answer: BodyAnswer, { rules, side, blocked, blocks }: BodyHookOptions): Outcome {
  if ('unreadable' in answer) throw unreadable(side, answer.unreadable)
  const found = answer.rules.map((number) => rules[number]!)
  if (blocks(x, found) || answer.isStuck) return blocked
  if (answer.body !== null) replaceBody(x, side, answer.body)
  return null
}

function unreadable(side: Side, message: string): UnreadableBody {
  return new UnreadableBody(faultCode(side, 'GW_BODY_UNPARSABLE'), message)
}

function refusalsOf(side: Side, { maxScanBytes = '256kb' }: ContentFilterConfig, env: CompileEnv) {
  const isRequest = side === 'request'
  const plain = 'send it without content-encoding, in a charset like utf-8'
  return {
    unreadable: isRequest
      ? env.refusal('GW_MEDIA_TYPE', `the request body cannot be read here; ${plain}`)
      : env.refusal('GW_RESPONSE_INVALID', 'the response of the upstream cannot be read here'),
    tooLarge: isRequest
      ? env.refusal(
          'GW_BODY_TOO_LARGE',
          `the request body is larger than can be checked; send at most ${maxScanBytes}`,
        )
      : env.refusal('GW_RESPONSE_INVALID', 'the response of the upstream is larger than can be checked'),
  }
}
