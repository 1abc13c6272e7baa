import {
  type CompileEnv,
  type Consumer,
  definePolicy,
  type Exchange,
  isFieldValue,
  type Outcome,
  type Reply,
} from '@sluice/core'
import { bearerChallenge, scopeRefusal } from '../../identity/token/refusals.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { compileRule, type Rule, SCOPES, unmetRequirement } from './rule.js'
import { type AuthorizeConfig, authorizeSchema, type RuleConfig } from './schema.js'

/** Maximum length of the reason in the log, in characters. */
const MAX_REASON = 500

/** Decides which authenticated callers may continue. */
export const authorize = definePolicy({
  name: 'authorize',
  summary: 'Allows or denies authenticated callers by consumer, group, role, scope, claim or condition.',
  schema: authorizeSchema,
  needsConsumer: ({ phase }) => phase,
  compile(config, env) {
    const decision = compileDecision(config, env)
    const decide = config.dryRun ? dryRun(decision) : decision
    return config.phase === 'body'
      ? { name: 'authorize', decidesOnBody: true, onRequestBody: decide }
      : { name: 'authorize', onRequest: decide }
  },
})

function dryRun(decide: (x: Exchange) => Outcome): (x: Exchange) => Outcome {
  return (x) => {
    if (decide(x) === null) return null
    x.record.reason = ''
    x.setVar('authorize', 'would-deny')
    return null
  }
}

/** A rule of `allow`, with the response for a caller who lacks only its scopes. */
interface AllowRule extends Rule {
  readonly scopeRefusal: Reply
}

/** Compiles the decision: a matching rule of `deny` wins, then one rule of `allow` must match. */
function compileDecision({ allow, deny = [], challenge, phase }: AuthorizeConfig, env: CompileEnv) {
  if (!isFieldValue(challenge))
    throw new Error("'challenge' contains a character that is not allowed in a header")
  const compiled = (place: string, rules: readonly RuleConfig[]): Rule[] =>
    rules.map((rule, i) => withContext(`rule ${i + 1} of '${place}':`, () => compileRule(rule, phase, env)))
  const denying = compiled('deny', deny)
  const denied = env.refusal('GW_ACCESS_DENIED', 'you may not call this API; ask its operator for access')
  const missing = env.refusal('GW_AUTH_MISSING', 'send credentials with the request', [
    'www-authenticate',
    challenge,
  ])
  /** Rules that allow a caller, or null if every authenticated caller is allowed. */
  const allowing: readonly AllowRule[] | null =
    allow === 'authenticated'
      ? null
      : compiled('allow', allow).map((rule) => ({
          ...rule,
          scopeRefusal: scopeRefusal('credential', rule.scopes, bearerChallenge(), env),
        }))
  return (x: Exchange): Outcome => {
    const { consumer } = x
    if (consumer === null) return missing
    for (let i = 0; i < denying.length; i++) {
      if (unmetRequirement(denying[i]!, consumer, x) !== null) continue
      x.record.reason = `deny[${i}]`
      return denied
    }
    if (allowing === null) return null
    for (let i = 0; i < allowing.length; i++) {
      if (unmetRequirement(allowing[i]!, consumer, x) === null) return null
    }
    return lackedScopes(x, consumer, allowing) ?? denied
  }
}

/**
 * Logs the first unmet condition of each rule. Returns the refusal of a rule that lacks only scopes, or null if
 * there is none.
 */
function lackedScopes(x: Exchange, consumer: Consumer, rules: readonly AllowRule[]): Reply | null {
  const unmet = rules.map((rule) => unmetRequirement(rule, consumer, x))
  x.record.reason = unmet
    .map((requirement, i) => `allow[${i}] needs ${requirement?.text ?? ''}`)
    .join('; ')
    .slice(0, MAX_REASON)
  const nearly = unmet.findIndex((requirement) => requirement?.kind === SCOPES)
  return nearly < 0 ? null : rules[nearly]!.scopeRefusal
}
