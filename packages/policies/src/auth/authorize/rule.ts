import type { CompileEnv, Consumer, Exchange } from '@sluice/core'
import type { RuleConfig } from './schema.js'

/** A requirement of a rule. */
export interface Requirement {
  /** Name of the requirement in the configuration. */
  readonly kind: string
  /** The requirement in words for the log, such as `the scope orders:read`. */
  readonly text: string
  isMet(consumer: Consumer, x: Exchange): boolean
}

/** A rule of `allow` or `deny`. It matches if all its requirements are met. */
export interface Rule {
  /** Requirements of the rule. Scopes come last, so that a caller who lacks only scopes can be told. */
  readonly requirements: readonly Requirement[]
  readonly scopes: readonly string[]
}

/** Returns the first unmet requirement of a rule, or null if the rule matches. */
export function unmetRequirement(
  { requirements }: Rule,
  consumer: Consumer,
  x: Exchange,
): Requirement | null {
  for (let i = 0; i < requirements.length; i++) {
    if (!requirements[i]!.isMet(consumer, x)) return requirements[i]!
  }
  return null
}

/** Maximum number of names in the text of a requirement. */
const MAX_NAMES = 10

/** Name of the scope requirement. */
export const SCOPES = 'scopes'

/**
 * Compiles a rule. @throws Error if the rule has no conditions, or if one cannot be evaluated in this phase.
 */
export function compileRule(config: RuleConfig, phase: 'request' | 'body', env: CompileEnv): Rule {
  const { consumers, groups, roles, scopes, claims, when, match = 'any' } = config
  const requirements: Requirement[] = []
  if (consumers !== undefined) {
    const ids = new Set(consumers)
    requirements.push({
      kind: 'consumers',
      text: namesText('consumer', consumers, 'any'),
      isMet: ({ id }) => ids.has(id),
    })
  }
  if (groups !== undefined) {
    requirements.push({
      kind: 'groups',
      text: namesText('group', groups, match),
      isMet: (consumer) => matches(consumer.groups, groups, match),
    })
  }
  if (roles !== undefined) {
    requirements.push({
      kind: 'roles',
      text: namesText('role', roles, match),
      isMet: (consumer) => matches(consumer.roles ?? [], roles, match),
    })
  }
  for (const [name, wanted] of Object.entries(claims ?? {}))
    requirements.push(claimRequirement(name, [wanted].flat()))
  if (when !== undefined) requirements.push(conditionRequirement(when, phase, env))
  if (scopes !== undefined) {
    requirements.push({
      kind: SCOPES,
      text: namesText('scope', scopes, 'all'),
      isMet: (consumer) => matches(consumer.scopes ?? [], scopes, 'all'),
    })
  }
  if (requirements.length === 0)
    throw new Error('a rule has no conditions; add groups, scopes or another condition')
  return { requirements, scopes: scopes ?? [] }
}

/** Describes required names, such as `one of the groups partners, staff`. */
function namesText(noun: string, names: readonly string[], match: 'any' | 'all'): string {
  const list = `${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ', …' : ''}`
  if (names.length === 1) return `the ${noun} ${list}`
  return `${match === 'all' ? 'all' : 'one'} of the ${noun}s ${list}`
}

function matches(given: readonly string[], wanted: readonly string[], match: 'any' | 'all'): boolean {
  return match === 'all'
    ? wanted.every((one) => given.includes(one))
    : wanted.some((one) => given.includes(one))
}

function claimRequirement(name: string, values: readonly string[]): Requirement {
  return {
    kind: `claims.${name}`,
    text: `the claim ${name}${values.length === 0 ? '' : ` equal to ${values.slice(0, MAX_NAMES).join(' or ')}`}`,
    isMet({ claims, claimLists }) {
      const value = claims?.get(name)
      if (value === undefined) return false
      if (values.length === 0 || values.includes(value)) return true
      return claimLists?.get(name)?.some((item) => values.includes(item)) === true
    },
  }
}

function conditionRequirement(text: string, phase: 'request' | 'body', env: CompileEnv): Requirement {
  const condition = env.expression(text)
  if (condition.readsResponse) throw new Error(`'${text}' reads the response, which does not exist yet`)
  if (condition.readsBody && phase === 'request')
    throw new Error(`'${text}' reads the body; write 'phase: body' beside the rules`)
  return {
    kind: 'when',
    text: 'its condition (when) to be true',
    isMet: (_, x) => condition.value(x) === true,
  }
}
