import {
  type CompileEnv,
  type ErrorCode,
  type Eventual,
  type Exchange,
  OFFLOAD_BYTES,
  type Offload,
  type Outcome,
  parseSize,
  UnreadableBody,
} from '@sluice/core'
import { jsonOf } from '../json/view.js'
import { faultCode, headersOf, replaceBody, type Side } from '../message/side.js'
import { onOverload, overloadRefusal } from '../overload.js'
import { bodyKindOf, isReadable } from '../text/body-text.js'
import type { BodyInput } from './body.js'
import { answerOf, type BodyAnswer, type BodyWorkConfig } from './body-work.js'
import type { Rule } from './rule.js'
import type { RedactConfig } from './schema.js'

/** What redacting the bodies of a message needs. */
export interface BodyHookOptions {
  readonly config: RedactConfig
  readonly side: Side
  readonly rules: readonly Rule[]
}

/** The hook for the bodies of a message. */
export function bodyHook(
  options: BodyHookOptions,
  env: CompileEnv,
): (x: Exchange, body: Uint8Array) => Eventual {
  const { config, side, rules } = options
  const offloaded: BodyWorkConfig = { config, side }
  const threads: Offload<BodyInput, BodyAnswer> = env.offload(
    new URL('./body-work.js', import.meta.url),
    offloaded,
  )
  const refusals = refusalsOf(side, config, env)
  const overloaded = onOverload(overloadRefusal('too many bodies are being redacted; try again later'))
  const maxBytes = maxBodyBytesOf(config)
  const passes = config.unreadable === 'pass'
  const settle = (x: Exchange, answer: BodyAnswer): Outcome => {
    if (answer === 'unreadable') return passes ? null : refusals.unreadable
    if (answer === 'too much') return refusals.tooMuch
    if ('mistake' in answer) throw new UnreadableBody(faultCode(side, 'GW_BODY_UNPARSABLE'), answer.mistake)
    if (answer.body !== null) replaceBody(x, side, answer.body)
    return null
  }
  return (x, body) => {
    if (body.length === 0) return null
    const kind = bodyKindOf(headersOf(x, side))
    if (!isReadable(kind)) return refusals.coded
    if (body.length > maxBytes) return refusals.tooLarge
    if (body.length < OFFLOAD_BYTES)
      return settle(
        x,
        answerOf({ body, kind }, rules, () => jsonOf(x, body)),
      )
    return threads.run({ body, kind }).then((answer) => settle(x, answer), overloaded)
  }
}

export function maxBodyBytesOf({ maxBodyBytes = '1mb' }: RedactConfig): number {
  return parseSize(maxBodyBytes)
}

function refusalsOf(side: Side, { maxBodyBytes = '1mb' }: RedactConfig, env: CompileEnv) {
  const of = (code: ErrorCode, detail: string) => env.refusal(faultCode(side, code), detail)
  const body = `the body of the ${side}`
  return {
    coded: of('GW_MEDIA_TYPE', `${body} cannot be redacted in a content coding or in its charset`),
    unreadable: of('GW_MEDIA_TYPE', `${body} is of a kind that cannot be redacted`),
    tooLarge: of('GW_BODY_TOO_LARGE', `${body} is too large to be redacted; at most ${maxBodyBytes} can be`),
    tooMuch: of('GW_BODY_TOO_LARGE', `${body} has too much that has to be redacted`),
  }
}
