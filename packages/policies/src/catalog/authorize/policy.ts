import {
  type CompileEnv,
  type Consumer,
  definePolicy,
  type Exchange,
  isFieldValue,
  type Outcome,
  type Reply,
} from '@sluice/core'
import { withContext } from '../../shared/with-context.js'
import { compileRule, type Rule, SCOPES, unmetDemand } from './rule.js'
import { type AuthorizeConfig, authorizeSchema, type RuleConfig } from './schema.js'

/** Longest reason in the log, in characters. */
const MAX_REASON = 500

/** Decides who of those who are authenticated may call. */
export const authorize = definePolicy({
  name: 'authorize',
  summary: 'Decides by consumer, group, role, scope, claim or condition who may call.',
  schema: authorizeSchema,
  needsConsumer: ({ phase = 'request' }) => phase,
  compile(config, env) {
    const decision = new Decision(config, env)
    const decide = config.dryRun === true ? dryRun(decision) : (x: Exchange) => decision.make(x)
    return config.phase === 'body'
      ? { name: 'authorize', decidesOnBody: true, onRequestBody: decide }
      : { name: 'authorize', onRequest: decide }
  },
})

function dryRun(decision: Decision): (x: Exchange) => Outcome {
  return (x) => {
    if (decision.make(x) === null) return null
    x.record.reason = ''
    x.setVar('authorize', 'would-deny')
    return null
  }
}

/** A rule of `allow` with what is answered to whom it lacks nothing but scopes. */
interface AllowRule extends Rule {
  readonly scopeRefusal: Reply
}

/** The one decision: deny wins, then one rule of `allow` has to hold. */
class Decision {
  /** Null: everybody who is authenticated. */
  readonly #allow: readonly AllowRule[] | null
  readonly #deny: readonly Rule[]
  readonly #missing: Reply
  readonly #denied: Reply

  constructor(
    { allow, deny = [], challenge = 'Bearer', phase = 'request' }: AuthorizeConfig,
    env: CompileEnv,
  ) {
    if (!isFieldValue(challenge)) throw new Error("'challenge' has a character that no header may hold")
    const compiled = (place: string, rules: readonly RuleConfig[]): Rule[] =>
      rules.map((rule, i) => withContext(`rule ${i + 1} of '${place}':`, () => compileRule(rule, phase, env)))
    this.#deny = compiled('deny', deny)
    this.#denied = env.refusal('GW_ACCESS_DENIED', 'you may not call this; ask the operator of this API')
    this.#missing = env.refusal('GW_AUTH_MISSING', 'send credentials with the request', [
      'www-authenticate',
      challenge,
    ])
    this.#allow =
      allow === 'authenticated'
        ? null
        : compiled('allow', allow).map((rule) => ({ ...rule, scopeRefusal: scopeRefusal(rule.scopes, env) }))
  }

  make(x: Exchange): Outcome {
    const { consumer } = x
    if (consumer === null) return this.#missing
    for (let i = 0; i < this.#deny.length; i++) {
      if (unmetDemand(this.#deny[i]!, consumer, x) !== null) continue
      x.record.reason = `deny[${i}]`
      return this.#denied
    }
    if (this.#allow === null) return null
    for (let i = 0; i < this.#allow.length; i++) {
      if (unmetDemand(this.#allow[i]!, consumer, x) === null) return null
    }
    return this.#refuse(x, consumer, this.#allow)
  }

  /** No rule holds: what each lacks goes to the log, and the scopes that would have been enough to the caller. */
  #refuse(x: Exchange, consumer: Consumer, rules: readonly AllowRule[]): Reply {
    const lacks = rules.map((rule) => unmetDemand(rule, consumer, x)?.kind ?? '')
    x.record.reason = lacks
      .map((kind, i) => `allow[${i}] lacks ${kind}`)
      .join(', ')
      .slice(0, MAX_REASON)
    const nearly = lacks.indexOf(SCOPES)
    return nearly < 0 ? this.#denied : rules[nearly]!.scopeRefusal
  }
}

/** RFC 6750, 3.1. @throws Error for a scope that cannot stand in a challenge. */
function scopeRefusal(scopes: readonly string[], env: CompileEnv): Reply {
  const unsound = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
  if (unsound !== undefined)
    throw new Error(`'${unsound}' is not a scope; write one word for each, without quotes`)
  const wanted = scopes.join(' ')
  return env.refusal('GW_SCOPE_MISSING', `the credential lacks a scope; get one with ${wanted}`, [
    'www-authenticate',
    `Bearer error="insufficient_scope", scope="${wanted}"`,
  ])
}
