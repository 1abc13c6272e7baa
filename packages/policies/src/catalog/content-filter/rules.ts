import type { Side } from '../../shared/message/side.js'
import type { DecodePass } from '../../shared/text/decode.js'
import { compilePattern, type Pattern } from '../../shared/text/pattern.js'
import { withContext } from '../../shared/with-context.js'
import { PACKS } from './packs/packs.js'
import type { ContentFilterConfig, RuleConfig } from './schema.js'

export type Action = 'block' | 'remove' | 'mask' | 'log' | 'tag'

/** Something to look for in one kind of message. */
export interface Rule {
  readonly name: string
  readonly pattern: Pattern
  readonly targets: readonly string[]
  readonly decode: readonly DecodePass[]
  readonly action: Action
  readonly score: number
}

const DEFAULT_TARGETS = ['query', 'body']
const DEFAULT_DECODE: readonly DecodePass[] = ['url', 'html', 'unicode']
const PACK_TARGETS = ['path', 'query', 'header:*', 'cookie', 'body']
/** The patterns of packs rely on them. */
const PACK_DECODE: readonly DecodePass[] = ['url', 'html', 'unicode', 'comments', 'spaces']
const DEFAULT_SCORE = 5

/** The rules of a message, own ones and those of packs, in this order. @throws Error for one that cannot work. */
export function compileRules(config: ContentFilterConfig, side: Side): readonly Rule[] {
  const own = (config.rules ?? []).filter((rule) => (rule.phase ?? 'request') === side)
  const rules = [...own.map(ownRule), ...(side === 'request' ? packRules(config) : [])]
  for (const rule of rules) checkTargets(rule, side)
  return rules
}

function ownRule(config: RuleConfig): Rule {
  return {
    name: config.name,
    pattern: withContext(`rule '${config.name}':`, () =>
      compilePattern(config.pattern, config.caseInsensitive ?? true),
    ),
    targets: (config.target ?? DEFAULT_TARGETS).map(normalTarget),
    decode: config.decode ?? DEFAULT_DECODE,
    action: config.action ?? 'block',
    score: config.score ?? DEFAULT_SCORE,
  }
}

function packRules({ packs = [], packTarget, packAction, except = [] }: ContentFilterConfig): Rule[] {
  const rules = packs.flatMap((written) =>
    PACKS[written].rules.map(({ name, pattern, score }) => ({
      name: `${written.split('@')[0]}/${name}`,
      pattern: compilePattern(pattern, true),
      targets: (packTarget ?? PACK_TARGETS).map(normalTarget),
      decode: PACK_DECODE,
      action: packAction ?? 'block',
      score,
    })),
  )
  const unknown = except.find((name) => !rules.some((rule) => rule.name === name))
  if (unknown !== undefined) {
    throw new Error(`'except' names '${unknown}', which no pack in use has; rules are named like sqli/delay`)
  }
  return rules.filter(({ name }) => !except.includes(name))
}

/** Header names in lower case; JSON paths as they are. */
function normalTarget(target: string): string {
  return target.startsWith('header:') ? target.toLowerCase() : target
}

function checkTargets({ name, targets, action }: Rule, side: Side): void {
  const onlyOfRequests = targets.find((one) => one === 'path' || one === 'query' || one === 'cookie')
  if (side === 'response' && onlyOfRequests !== undefined) {
    throw new Error(
      `rule '${name}': a response has no ${onlyOfRequests}; name headers or the body as its target`,
    )
  }
  if ((action === 'remove' || action === 'mask') && targets.includes('path')) {
    throw new Error(`rule '${name}': nothing can be taken out of a path; leave 'path' out of its targets`)
  }
}
