import type { CompileEnv, Consumer, Exchange } from '@sluice/core'
import type { RuleConfig } from './schema.js'

/** One condition of a rule. */
export interface Demand {
  /** Name of the condition in the configuration. */
  readonly kind: string
  isMet(consumer: Consumer, x: Exchange): boolean
}

/** A rule of `allow` or `deny`. It matches if all its conditions are met. */
export interface Rule {
  /** Conditions of the rule. Scopes come last, so that a caller who lacks only scopes can be told. */
  readonly demands: readonly Demand[]
  readonly scopes: readonly string[]
}

/** Returns the first unmet condition of a rule, or null if the rule matches. */
export function unmetDemand({ demands }: Rule, consumer: Consumer, x: Exchange): Demand | null {
  for (let i = 0; i < demands.length; i++) {
    if (!demands[i]!.isMet(consumer, x)) return demands[i]!
  }
  return null
}

/** Name of the scope condition. */
export const SCOPES = 'scopes'

/**
 * Compiles a rule. @throws Error if the rule has no conditions, or if one cannot be evaluated in this phase.
 */
export function compileRule(config: RuleConfig, phase: 'request' | 'body', env: CompileEnv): Rule {
  const { consumers, groups, roles, scopes, claims, when, match = 'any' } = config
  const demands: Demand[] = []
  if (consumers !== undefined) {
    const ids = new Set(consumers)
    demands.push({ kind: 'consumers', isMet: ({ id }) => ids.has(id) })
  }
  if (groups !== undefined) {
    demands.push({ kind: 'groups', isMet: (consumer) => matches(consumer.groups, groups, match) })
  }
  if (roles !== undefined) {
    demands.push({ kind: 'roles', isMet: (consumer) => matches(consumer.roles ?? [], roles, match) })
  }
  for (const [name, wanted] of Object.entries(claims ?? {})) demands.push(claimDemand(name, [wanted].flat()))
  if (when !== undefined) demands.push(conditionDemand(when, phase, env))
  if (scopes !== undefined) {
    demands.push({ kind: SCOPES, isMet: (consumer) => matches(consumer.scopes ?? [], scopes, 'all') })
  }
  if (demands.length === 0)
    throw new Error('a rule has no conditions; add groups, scopes or another condition')
  return { demands, scopes: scopes ?? [] }
}

function matches(given: readonly string[], wanted: readonly string[], match: 'any' | 'all'): boolean {
  return match === 'all'
    ? wanted.every((one) => given.includes(one))
    : wanted.some((one) => given.includes(one))
}

function claimDemand(name: string, values: readonly string[]): Demand {
  return {
    kind: `claims.${name}`,
    isMet({ claims, claimLists }) {
      const value = claims?.get(name)
      if (value === undefined) return false
      if (values.length === 0 || values.includes(value)) return true
      return claimLists?.get(name)?.some((item) => values.includes(item)) === true
    },
  }
}

function conditionDemand(text: string, phase: 'request' | 'body', env: CompileEnv): Demand {
  const condition = env.expression(text)
  if (condition.readsResponse) throw new Error(`'${text}' reads the response, which does not exist yet`)
  if (condition.readsBody && phase === 'request')
    throw new Error(`'${text}' reads the body; write 'phase: body' beside the rules`)
  return { kind: 'when', isMet: (_, x) => condition.value(x) === true }
}
