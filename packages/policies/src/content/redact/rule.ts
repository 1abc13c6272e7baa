import { type FindValues, VALUE_TYPES } from '@sluice/core'
import { compileJsonLocations, type JsonLocations } from '../../engines/json/locations.js'
import type { Side } from '../../shared/message/side.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { compilePattern, type Pattern } from '../../shared/text/pattern.js'
import { type Redaction, redactionOf } from './redaction.js'
import type { RedactConfig, RedactRule } from './schema.js'

/** A compiled rule for requests or responses. */
export interface Rule {
  readonly redaction: Redaction
  /** Member names in lower case. */
  readonly keys: ReadonlySet<string>
  readonly paths: readonly JsonLocations[]
  readonly headers: ReadonlySet<string>
  readonly query: ReadonlySet<string>
  readonly types: readonly FindValues[]
  readonly patterns: readonly Pattern[]
}

/** Compiles the rules of a message, in order. @throws Error for an invalid rule. */
export function compileRules({ rules, secret }: RedactConfig, side: Side): readonly Rule[] {
  return rules.flatMap((rule, i) =>
    withContext(`rule ${i + 1}:`, () => {
      check(rule)
      const appliesToSide = rule.phase === 'both' || (rule.phase ?? 'response') === side
      return appliesToSide ? [compileRule(rule, secret)] : []
    }),
  )
}

/** True if a rule applies to bodies. */
export function readsBody({ keys, paths, types, patterns }: Rule): boolean {
  return needsStructure({ keys, paths }) || types.length + patterns.length > 0
}

/** True if a rule needs parsed JSON or a form. */
export function needsStructure({ keys, paths }: Pick<Rule, 'keys' | 'paths'>): boolean {
  return keys.size + paths.length > 0
}

function check({ keys, paths, headers, query, types, patterns, phase = 'response' }: RedactRule): void {
  if ([keys, paths, headers, query, types, patterns].every((selector) => selector === undefined))
    throw new Error('the rule selects nothing: set keys, paths, headers, query, types or patterns')
  if (phase === 'response' && query !== undefined)
    throw new Error("a response has no query: set phase: request, or remove 'query'")
}

function compileRule(rule: RedactRule, secret: string | undefined): Rule {
  return {
    redaction: redactionOf(rule, secret),
    keys: lower(rule.keys),
    paths: (rule.paths ?? []).map(compileJsonLocations),
    headers: lower(rule.headers),
    query: lower(rule.query),
    types: (rule.types ?? []).map((type) => VALUE_TYPES[type]),
    patterns: (rule.patterns ?? []).map((pattern) => compilePattern(pattern, false)),
  }
}

function lower(names: readonly string[] = []): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()))
}
