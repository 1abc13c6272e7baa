import { type CompileEnv, type Exchange, type Outcome, type Reply, setHeader } from '@sluice/core'
import type { Oauth2Config } from './grants.js'
import type { Scheme } from './scheme.js'
import { NoToken, type TokenSource } from './token-source.js'
import { openTokenSources, subjectIn } from './token-sources.js'

/** Token used by an attempt, and its source. */
interface UsedToken {
  readonly source: TokenSource
  readonly value: string
}

/** Sends bearer tokens of an authorization server. @throws Error if the configuration is invalid. */
export function oauth2Scheme(config: Oauth2Config, env: CompileEnv): Scheme {
  const { refreshOn } = config
  const { grant, sourceOf } = openTokenSources(config, env)
  const subjects = env.slot<string>()
  const used = env.slot<UsedToken>()
  const refusals = compileRefusals(env)
  const put = (x: Exchange, source: TokenSource, value: string): null => {
    used.set(x, { source, value })
    setHeader(x.headers, 'authorization', `Bearer ${value}`)
    return null
  }
  const refuse = (x: Exchange, error: unknown): Reply => {
    if (!(error instanceof NoToken)) throw error
    x.record.reason = error.message
    return error.isRefused && grant.subjectOf !== null
      ? refusals.invalid
      : unavailable(env, error.retryAfterMs)
  }
  const authenticate = (x: Exchange, subject: string): Outcome | Promise<Outcome> => {
    if (grant.subjectOf !== null && subject === '') return refusals.missing
    const source = sourceOf(subject)
    try {
      const token = source.get()
      if (typeof token === 'string') return put(x, source, token)
      return token.then(
        (late) => put(x, source, late),
        (error: unknown) => refuse(x, error),
      )
    } catch (error) {
      return refuse(x, error)
    }
  }
  return {
    needsBody: false,
    setsAuthorization: true,
    ...(grant.subjectField !== undefined && { clientField: grant.subjectField }),
    // A later policy may remove the client's token.
    ...(grant.isClientToken && {
      onRequest(x: Exchange) {
        subjects.set(x, subjectIn(x, grant))
        return null
      },
    }),
    onAttempt: (x) => authenticate(x, grant.isClientToken ? (subjects.get(x) ?? '') : subjectIn(x, grant)),
    onRejected(x, { status }) {
      const token = used.get(x)
      return token !== undefined && refreshOn.includes(status) && token.source.refuse(token.value)
    },
  }
}

function compileRefusals(env: CompileEnv) {
  const invalid = ['www-authenticate', 'Bearer error="invalid_token"']
  return {
    missing: env.refusal(
      'GW_AUTH_MISSING',
      'send a token that the gateway can exchange for an upstream token',
      ['www-authenticate', 'Bearer'],
    ),
    invalid: env.refusal('GW_AUTH_INVALID', 'the token cannot be exchanged for an upstream token', invalid),
  }
}

function unavailable(env: CompileEnv, retryAfterMs: number): Reply {
  const seconds = String(Math.max(1, Math.ceil(retryAfterMs / 1000)))
  const detail = 'the gateway currently has no credentials for the upstream; try again'
  return env.refusal('GW_UPSTREAM_CREDENTIALS', detail, ['retry-after', seconds])
}
