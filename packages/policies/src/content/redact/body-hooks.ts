import { type CompileEnv, type ErrorCode, parseSize } from '@sluice/core'
import { faultCode, replaceBody, type Side } from '../../shared/message/side.js'
import { overloadRefusal } from '../../shared/outcome/overload.js'
import { type ReadingHooks, readingHooks } from '../../shared/text/body-reading.js'
import { type BodyOutcome, redactedBody } from './body.js'
import type { BodyWorkConfig } from './body-work.js'
import type { Rule } from './rule.js'
import type { RedactConfig } from './schema.js'

/** Creates the body hooks of a message. */
export function bodyHooks(
  { config, side, rules }: BodyWorkConfig & { readonly rules: readonly Rule[] },
  env: CompileEnv,
): ReadingHooks {
  const refusals = refusalsOf(side, config, env)
  const passes = config.unreadable === 'pass'
  return readingHooks<BodyOutcome>({
    side,
    maxBytes: maxBodyBytesOf(config),
    larger: refusals.tooLarge,
    coded: refusals.coded,
    overloaded: overloadRefusal('too many bodies are being redacted: try again later'),
    threads: env.offload(new URL('./body-work.js', import.meta.url), {
      config,
      side,
    } satisfies BodyWorkConfig),
    read: (input, json) => redactedBody(input, rules, json),
    settle(x, answer) {
      if ('issue' in answer) return answer.issue === 'opaque' && passes ? null : refusals[answer.issue]
      if (answer.body !== null) replaceBody(x, side, answer.body)
      return null
    },
  })
}

/** Returns the maximum size of a redacted body in bytes. */
export function maxBodyBytesOf({ maxBodyBytes = '1mb' }: RedactConfig): number {
  return parseSize(maxBodyBytes)
}

function refusalsOf(side: Side, { maxBodyBytes = '1mb' }: RedactConfig, env: CompileEnv) {
  const of = (code: ErrorCode, detail: string) => env.refusal(faultCode(side, code), detail)
  const body = `the body of the ${side}`
  return {
    coded: of('GW_MEDIA_TYPE', `${body} has a content coding or charset that cannot be redacted`),
    opaque: of('GW_MEDIA_TYPE', `${body} has a media type that cannot be redacted`),
    tooLarge: of('GW_BODY_TOO_LARGE', `${body} is too large to redact: the limit is ${maxBodyBytes}`),
    tooMuch: of('GW_BODY_TOO_LARGE', `${body} has too many values to redact`),
  }
}
