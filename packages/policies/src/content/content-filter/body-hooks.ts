import type { CompileEnv, Exchange, Outcome, Reply } from '@sluice/core'
import { replaceBody, type Side } from '../../shared/message/side.js'
import { overloadRefusal } from '../../shared/outcome/overload.js'
import { type ReadingHooks, readingHooks } from '../../shared/text/body-reading.js'
import type { BodyFindings, BodyScan } from './body.js'
import type { BodyWorkConfig } from './body-work.js'
import type { Rule } from './rules.js'

interface BodyHooksOptions extends BodyWorkConfig {
  readonly rules: readonly Rule[]
  readonly filter: BodyScan
  readonly maxBytes: number
  readonly blocked: Reply
  blocks(x: Exchange, found: readonly Rule[]): boolean
}

/** Creates the hooks that scan the bodies of a message. */
export function bodyHooks(options: BodyHooksOptions, env: CompileEnv): ReadingHooks {
  const { config, side, rules, filter, maxBytes, blocked, blocks } = options
  return readingHooks<BodyFindings>({
    side,
    maxBytes,
    larger: largerOf(options, env),
    coded: codedRefusal(side, env),
    overloaded: overloadRefusal('too many bodies are being checked; try again later'),
    threads: env.offload(new URL('./body-work.js', import.meta.url), {
      config,
      side,
    } satisfies BodyWorkConfig),
    read: (input, json) => filter.scan(input, json),
    settle(x, answer) {
      const found = answer.rules.map((number) => rules[number]!)
      if (blocks(x, found) || answer.cannotRemove) return blocked
      if (answer.body !== null) replaceBody(x, side, answer.body)
      return null
    },
  })
}

function largerOf({ config, side, filter }: BodyHooksOptions, env: CompileEnv): Outcome | 'beginning' {
  const { onExceed, maxScanBytes } = config
  if (onExceed === 'pass') return null
  if (onExceed === 'scan-prefix' && !filter.needsWhole) return 'beginning'
  return side === 'request'
    ? env.refusal(
        'GW_BODY_TOO_LARGE',
        `the request body is too large to be checked; send at most ${maxScanBytes}`,
      )
    : env.refusal('GW_RESPONSE_INVALID', 'the response of the upstream is too large to be checked')
}

function codedRefusal(side: Side, env: CompileEnv): Reply {
  const plain = 'send it without content-encoding, in a charset such as utf-8'
  return side === 'request'
    ? env.refusal('GW_MEDIA_TYPE', `the request body cannot be read here; ${plain}`)
    : env.refusal('GW_RESPONSE_INVALID', 'the response of the upstream cannot be read here')
}
