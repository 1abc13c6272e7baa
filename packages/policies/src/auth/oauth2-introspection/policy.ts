import {
  type CompileEnv,
  definePolicy,
  type Eventual,
  type Exchange,
  HttpCallFailed,
  type Outcome,
} from '@sluice/core'
import { BearerGate } from '../../identity/token/bearer-gate.js'
import { ForwardedClaims } from '../../identity/token/forwarded-claims.js'
import { compileRefusals } from '../../identity/token/refusals.js'
import { tokenLocation } from '../../identity/token/token-options.js'
import { CALL_LOOP, hopField } from '../../shared/call/call-hops.js'
import { reasonOf } from '../../shared/call/call-options.js'
import { IntrospectionFailed, type IntrospectionRefusals } from './answer-reader.js'
import { Introspection } from './introspection.js'
import { type IntrospectionConfig, introspectionSchema } from './schema.js'

/**
 * The `oauth2-introspection` policy. Asks an authorization server if a token is active, and identifies the
 * consumer.
 */
export const oauth2Introspection = definePolicy({
  name: 'oauth2-introspection',
  summary: 'Asks an authorization server if a token is active (RFC 7662), and identifies the consumer.',
  schema: introspectionSchema,
  cost: 'io',
  secretNames: (config) => [tokenLocation(config).name],
  authenticates: () => 'request',
  compile: (config, env) => ({ name: 'oauth2-introspection', onRequest: compileGate(config, env) }),
})

/** Syntax of bearer tokens (RFC 6750 section 2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/

/**
 * Returns a function that decides on one request. A cached token costs one digest and one map lookup.
 * @throws Error if an option is invalid.
 */
function compileGate(config: IntrospectionConfig, env: CompileEnv): (x: Exchange) => Eventual {
  const refusals = refusalsOf(config, env)
  const forwarded = new ForwardedClaims(config.forwardClaims, tokenLocation(config).name)
  const bearer = new BearerGate(config, forwarded, refusals)
  const introspection = new Introspection(config, refusals, forwarded, env)
  const server = new URL(config.url).origin
  /** @throws the error if the server did not cause it. */
  const fail = (x: Exchange, error: unknown): Outcome => {
    if (!(error instanceof HttpCallFailed) && !(error instanceof IntrospectionFailed)) throw error
    const reason = reasonOf(error)
    env.report('introspection_failed', { server, reason })
    x.record.reason = reason
    return refusals.unavailable
  }
  return (x) => {
    const token = bearer.read(x)
    if (typeof token !== 'string') return token
    if (!TOKEN.test(token)) return refusals.malformed
    const hop = hopField(x)
    if (hop === null) return CALL_LOOP
    const found = introspection.tokenOf(token, hop)
    if (!(found instanceof Promise)) return bearer.decide(x, found)
    return found.then(
      (late) => bearer.decide(x, late),
      (error: unknown) => fail(x, error),
    )
  }
}

function refusalsOf(config: IntrospectionConfig, env: CompileEnv): IntrospectionRefusals {
  const common = compileRefusals(config, env)
  const detail = 'the authorization server is unavailable: try again later'
  return {
    ...common,
    malformed: common.invalid('GW_TOKEN_MALFORMED', 'the token is malformed or too long'),
    inactive: common.invalid('GW_TOKEN_INACTIVE', 'the token is not active: get a new one'),
    unavailable: env.refusal('GW_AUTH_UNAVAILABLE', detail, ['retry-after', '1']),
  }
}
