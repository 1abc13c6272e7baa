import { createHash } from 'node:crypto'
import {
  type CompileEnv,
  type Exchange,
  type Outcome,
  parseDuration,
  type Reply,
  setHeader,
} from '@sluice/core'
import { type BackendAuthConfig, DEFAULT_REFRESH_BEFORE, DEFAULT_REFRESH_ON } from './schema.js'
import type { Scheme } from './scheme.js'
import { compileTokenRequest } from './token-request.js'
import { NoToken, TokenSource } from './token-source.js'

const LOOK_EVERY_MS = 5000

/** Bearer tokens that the gateway gets for itself. @throws Error for keys that cannot be used. */
export function oauth2Scheme(config: NonNullable<BackendAuthConfig['oauth2']>, env: CompileEnv): Scheme {
  const { refreshBefore = DEFAULT_REFRESH_BEFORE, refreshOn = DEFAULT_REFRESH_ON, tokenUrl } = config
  const fetch = compileTokenRequest(config, env)
  // A digest: the key of what is shared shows no secret.
  const digest = createHash('sha256').update(JSON.stringify(config)).digest('base64url')
  const source = env.shared(
    `backend-auth:${digest}`,
    () =>
      new TokenSource({
        refreshBeforeMs: parseDuration(refreshBefore),
        onFailure: (reason) => env.report('backend_token_failed', { endpoint: tokenUrl, reason }),
      }),
  )
  env.onClose(source.use(fetch))
  env.schedule(LOOK_EVERY_MS, () => source.keepFresh())
  const used = env.slot<string>()
  const put = (x: Exchange, token: string): null => {
    used.set(x, token)
    setHeader(x.headers, 'authorization', `Bearer ${token}`)
    return null
  }
  const refuse = (x: Exchange, error: unknown): Reply => {
    if (!(error instanceof NoToken)) throw error
    x.record.reason = error.message
    return unavailable(env, error.retryAfterMs)
  }
  return {
    needsBody: false,
    setsAuthorization: true,
    onAttempt(x): Outcome | Promise<Outcome> {
      try {
        const token = source.get()
        if (typeof token === 'string') return put(x, token)
        return token.then(
          (late) => put(x, late),
          (error: unknown) => refuse(x, error),
        )
      } catch (error) {
        return refuse(x, error)
      }
    },
    onRejected(x, { status }) {
      const token = used.get(x)
      return token !== undefined && refreshOn.includes(status) && source.refuse(token)
    },
  }
}

function unavailable(env: CompileEnv, retryAfterMs: number): Reply {
  const seconds = String(Math.max(1, Math.ceil(retryAfterMs / 1000)))
  const detail = 'the gateway has no credentials for the upstream now; try again'
  return env.refusal('GW_UPSTREAM_CREDENTIALS', detail, ['retry-after', seconds])
}
