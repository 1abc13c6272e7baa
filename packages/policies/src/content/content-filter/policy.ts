import { type CompileEnv, definePolicy, type Exchange, type Outcome, parseSize } from '@sluice/core'
import { failClosed, hooksOn, type MessageHooks } from '../../shared/message/hooks.js'
import { limitBody, type Side } from '../../shared/message/side.js'
import { BodyScan } from './body.js'
import { bodyHooks } from './body-hooks.js'
import { Finders } from './finder.js'
import { HeadFilter, type HeadOutcome } from './head.js'
import { compileRules } from './rules.js'
import { type ContentFilterConfig, contentFilterSchema } from './schema.js'
import { type Findings, Scorer } from './scorer.js'

/** Maximum scan size in bytes. Larger texts take too long even in linear time. */
const MAX_SCAN_BYTES = 4 * 1024 * 1024

/** Scans requests and responses for patterns. */
export const contentFilter = definePolicy({
  name: 'content-filter',
  summary:
    'Scans requests and responses for attacks and other patterns, and blocks, removes, masks, logs or tags them.',
  cost: 'cpu',
  schema: contentFilterSchema,
  compile(config, env) {
    if (config.rules === undefined && config.packs === undefined)
      throw new Error("configure 'rules', 'packs' or both")
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
  const finders = new Finders(rules, config.decodePasses)
  const blocks: Scorer['blocks'] = (x, found) => scorer.blocks(x, found)
  const blocked = env.refusal('GW_CONTENT_BLOCKED', `the ${side} contains content that is not allowed`)
  const filter = new BodyScan(rules, finders)
  const onBody = filter.isIdle
    ? undefined
    : bodyHooks({ config, side, rules, filter, maxBytes, blocked, blocks }, env)
  const tooLong = env.refusal('GW_HEADERS_TOO_LARGE', 'the head of the request is too large to be checked')
  const refusesExcess = config.onExceed === 'block'
  const head = new HeadFilter(rules, finders, { maxBytes, refusesExcess, blocks })
  const outcomes: Readonly<Record<HeadOutcome, Outcome>> = { pass: null, block: blocked, exceeds: tooLong }
  if (head.isIdle && onBody === undefined) return {}
  const scan = side === 'request' ? (x: Exchange) => head.request(x) : (x: Exchange) => head.response(x)
  // Stops buffering a body that would be refused anyway.
  const bounds = onBody !== undefined && refusesExcess
  return {
    ...(onBody !== undefined && { body: failClosed('content-filter', onBody.body) }),
    head: failClosed('content-filter', (x) => {
      if (bounds) limitBody(x, side, maxBytes)
      const outcome = head.isIdle ? null : outcomes[scan(x)]
      return outcome ?? onBody?.head(x) ?? null
    }),
  }
}

/** Returns the scan limit in bytes. @throws Error if it is too large. */
function maxScanBytesOf({ maxScanBytes }: ContentFilterConfig): number {
  const bytes = parseSize(maxScanBytes)
  if (bytes > MAX_SCAN_BYTES) throw new Error(`'maxScanBytes' ${maxScanBytes} is too large; use at most 4mb`)
  return bytes
}
