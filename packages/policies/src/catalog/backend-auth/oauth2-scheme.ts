import { type CompileEnv, type Exchange, type Outcome, type Reply, setHeader } from '@sluice/core'
import { type BackendAuthConfig, DEFAULT_REFRESH_ON } from './schema.js'
import type { Scheme } from './scheme.js'
import { NoToken, type TokenSource } from './token-source.js'
import { openTokenSources, subjectIn } from './token-sources.js'

/** A token that an attempt was made with, and where it has come from. */
interface UsedToken {
  readonly source: TokenSource
  readonly value: string
}

/** Bearer tokens of an authorization server. @throws Error for keys that cannot be used. */
export function oauth2Scheme(config: NonNullable<BackendAuthConfig['oauth2']>, env: CompileEnv): Scheme {
  const { refreshOn = DEFAULT_REFRESH_ON } = config
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
    // A policy behind may take the token of the client away.
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
    missing: env.refusal('GW_AUTH_MISSING', 'send a token that the gateway can exchange', [
      'www-authenticate',
      'Bearer',
    ]),
    invalid: env.refusal('GW_AUTH_INVALID', 'the token cannot be exchanged for one of the upstream', invalid),
  }
}

function unavailable(env: CompileEnv, retryAfterMs: number): Reply {
  const seconds = String(Math.max(1, Math.ceil(retryAfterMs / 1000)))
  const detail = 'the gateway has no credentials for the upstream now; try again'
  return env.refusal('GW_UPSTREAM_CREDENTIALS', detail, ['retry-after', seconds])
}
