import { type CompileEnv, definePolicy, type Exchange, type Outcome } from '@sluice/core'
import { failClosed, hooksOn, type MessageHooks } from '../../shared/message/hooks.js'
import { limitBody, type Side } from '../../shared/message/side.js'
import { BodyScan } from './body.js'
import { bodyHooks } from './body-hooks.js'
import { Finders } from './finder.js'
import { HeadFilter, type HeadOutcome } from './head.js'
import { DEFAULT_PASSES, maxScanBytesOf } from './limits.js'
import { compileRules } from './rules.js'
import { type ContentFilterConfig, contentFilterSchema } from './schema.js'
import { type Findings, Scorer } from './verdict.js'

/** Looks for patterns in requests and responses. */
export const contentFilter = definePolicy({
  name: 'content-filter',
  summary:
    'Looks for attacks and other patterns in requests and responses, and blocks, removes, masks or notes them.',
  cost: 'cpu',
  schema: contentFilterSchema,
  compile(config, env) {
    if (config.rules === undefined && config.packs === undefined) {
      throw new Error("neither 'rules' nor 'packs' is given; say what to look for")
    }
    const scorer = new Scorer(env.slot<Findings>(), config.threshold)
    return { name: 'content-filter', ...hooksOn('both', (side) => hooksOf(side, config, { scorer, env })) }
  },
})

function hooksOf(
  side: Side,
  config: ContentFilterConfig,
  { scorer, env }: { readonly scorer: Scorer; readonly env: CompileEnv },
): MessageHooks {
  const rules = compileRules(config, side)
  if (rules.length === 0) return {}
  const maxBytes = maxScanBytesOf(config)
  const finders = new Finders(rules, config.decodePasses ?? DEFAULT_PASSES)
  const blocks: Scorer['blocks'] = (x, found) => scorer.blocks(x, found)
  const blocked = env.refusal('GW_CONTENT_BLOCKED', `the ${side} has content that is not allowed here`)
  const filter = new BodyScan(rules, finders)
  const onBody = filter.isIdle
    ? undefined
    : bodyHooks({ config, side, rules, filter, maxBytes, blocked, blocks }, env)
  const tooLong = env.refusal(
    'GW_HEADERS_TOO_LARGE',
    'there is more in the head of the request than can be checked',
  )
  const isBounding = (config.onExceed ?? 'block') === 'block'
  const head = new HeadFilter(rules, finders, { maxBytes, isBounding, blocks })
  const outcomes: Readonly<Record<HeadOutcome, Outcome>> = { pass: null, block: blocked, exceeds: tooLong }
  if (head.isIdle && onBody === undefined) return {}
  const look = side === 'request' ? (x: Exchange) => head.request(x) : (x: Exchange) => head.response(x)
  // A body that would be refused is not collected to its end.
  const bounds = onBody !== undefined && isBounding
  return {
    ...(onBody !== undefined && { body: failClosed('content-filter', onBody.body) }),
    head: failClosed('content-filter', (x) => {
      if (bounds) limitBody(x, side, maxBytes)
      const outcome = head.isIdle ? null : outcomes[look(x)]
      return outcome ?? onBody?.head(x) ?? null
    }),
  }
}
