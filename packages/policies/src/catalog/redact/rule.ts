import { type FindValues, VALUE_TYPES } from '@sluice/core'
import { compileJsonLocations, type JsonLocations } from '../../engines/json/locations.js'
import type { Side } from '../../shared/message/side.js'
import { compilePattern, type Pattern } from '../../shared/text/pattern.js'
import { withContext } from '../../shared/with-context.js'
import { type Redaction, redactionOf } from './redaction.js'
import type { RedactConfig, RedactRule } from './schema.js'

/** A rule for one kind of message. */
export interface Rule {
  readonly redaction: Redaction
  /** In lower case. */
  readonly keys: ReadonlySet<string>
  readonly paths: readonly JsonLocations[]
  readonly headers: ReadonlySet<string>
  readonly query: ReadonlySet<string>
  readonly types: readonly FindValues[]
  readonly patterns: readonly Pattern[]
}

/** The rules of a message, in their order. @throws Error for one that cannot work. */
export function compileRules({ rules, secret }: RedactConfig, side: Side): readonly Rule[] {
  return rules.flatMap((rule, i) =>
    withContext(`rule ${i + 1}:`, () => {
      check(rule)
      const isMeant = rule.phase === 'both' || (rule.phase ?? 'response') === side
      return isMeant ? [compileRule(rule, secret)] : []
    }),
  )
}

/** Whether a rule looks into bodies. */
export function readsBody({ keys, paths, types, patterns }: Rule): boolean {
  return needsStructure({ keys, paths }) || types.length + patterns.length > 0
}

/** Whether a rule cannot do with text alone. */
export function needsStructure({ keys, paths }: Pick<Rule, 'keys' | 'paths'>): boolean {
  return keys.size + paths.length > 0
}

function check({ keys, paths, headers, query, types, patterns, phase = 'response' }: RedactRule): void {
  if ([keys, paths, headers, query, types, patterns].every((what) => what === undefined)) {
    throw new Error('it does not say what to redact; give keys, paths, headers, query, types or patterns')
  }
  if (phase === 'response' && query !== undefined) {
    throw new Error("a response has no query; write phase: request, or leave 'query' out")
  }
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
