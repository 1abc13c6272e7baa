import type { Side } from '../../shared/message/side.js'
import { withContext } from '../../shared/outcome/with-context.js'
import type { DecodePass } from '../../shared/text/decode.js'
import { compilePattern, type Pattern } from '../../shared/text/pattern.js'
import { PACKS } from './packs/packs.js'
import type { ContentFilterConfig, RuleConfig } from './schema.js'

/** Action on a match. */
export type Action = 'block' | 'remove' | 'mask' | 'log' | 'tag'

/** A compiled rule for requests or responses. */
export interface Rule {
  readonly name: string
  readonly pattern: Pattern
  readonly targets: readonly string[]
  readonly decode: readonly DecodePass[]
  readonly action: Action
  readonly score: number
}

/** Decoding steps that the patterns of packs rely on. */
const PACK_DECODE: readonly DecodePass[] = ['url', 'html', 'unicode', 'comments', 'spaces']

/**
 * Compiles the rules for a message: configured rules first, then those of packs. @throws Error if a rule is
 * invalid.
 */
export function compileRules(config: ContentFilterConfig, side: Side): readonly Rule[] {
  const own = (config.rules ?? []).filter((rule) => rule.phase === side)
  const rules = [...own.map(ownRule), ...(side === 'request' ? packRules(config) : [])]
  for (const rule of rules) checkTargets(rule, side)
  return rules
}

function ownRule(config: RuleConfig): Rule {
  return {
    name: config.name,
    pattern: withContext(`rule '${config.name}':`, () =>
      compilePattern(config.pattern, config.caseInsensitive),
    ),
    targets: config.targets.map(normalTarget),
    decode: config.decode,
    action: config.action,
    score: config.score,
  }
}

function packRules({ packs = [], packTargets, packAction, except = [] }: ContentFilterConfig): Rule[] {
  const rules = packs.flatMap((written) =>
    PACKS[written].rules.map(({ name, pattern, score }) => ({
      name: `${written.split('@')[0]}/${name}`,
      pattern: compilePattern(pattern, true),
      targets: packTargets.map(normalTarget),
      decode: PACK_DECODE,
      action: packAction,
      score,
    })),
  )
  const unknown = except.find((name) => !rules.some((rule) => rule.name === name))
  if (unknown !== undefined)
    throw new Error(
      `'except' contains '${unknown}', which is not a rule of a configured pack; rule names look like sqli/delay`,
    )
  return rules.filter(({ name }) => !except.includes(name))
}

/** Converts header names to lower case and leaves JSON paths unchanged. */
function normalTarget(target: string): string {
  return target.startsWith('header:') ? target.toLowerCase() : target
}

function checkTargets({ name, targets, action }: Rule, side: Side): void {
  const requestTarget = targets.find((one) => one === 'path' || one === 'query' || one === 'cookie')
  if (side === 'response' && requestTarget !== undefined)
    throw new Error(`rule '${name}': a response has no ${requestTarget}; use headers or the body as target`)
  if ((action === 'remove' || action === 'mask') && targets.includes('path'))
    throw new Error(`rule '${name}': a path cannot be changed; remove 'path' from its targets`)
}
