import type { CompileEnv, Consumer, Exchange } from '@sluice/core'
import type { RuleConfig } from './schema.js'

/** What a rule asks of a caller. */
export interface Demand {
  /** As the configuration calls it. */
  readonly kind: string
  isMet(consumer: Consumer, x: Exchange): boolean
}

/** A rule of `allow` or `deny`: it holds when all its demands are met. */
export interface Rule {
  /** Scopes are the last of them, so that whoever lacks nothing else can be told. */
  readonly demands: readonly Demand[]
  readonly scopes: readonly string[]
}

/** The first demand of a rule that is not met; null: it holds. */
export function unmetDemand({ demands }: Rule, consumer: Consumer, x: Exchange): Demand | null {
  for (let i = 0; i < demands.length; i++) {
    if (!demands[i]!.isMet(consumer, x)) return demands[i]!
  }
  return null
}

/** Of every rule. */
export const SCOPES = 'scopes'

/** @throws Error for a rule that asks for nothing, and for a condition that cannot be asked here. */
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
  if (demands.length === 0) throw new Error('a rule asks for nothing; name groups, scopes or another part')
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
  if (condition.readsResponse) throw new Error(`'${text}' reads the response; there is none yet`)
  if (condition.readsBody && phase === 'request')
    throw new Error(`'${text}' reads the body; write phase: body beside the rules`)
  return { kind: 'when', isMet: (_, x) => condition.value(x) === true }
}
