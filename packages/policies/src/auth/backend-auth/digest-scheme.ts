import { randomBytes } from 'node:crypto'
import { type CompileEnv, type Exchange, removeHeader, setHeader, withQuery } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import { challengesIn } from './digest-challenge.js'
import { digestResponse, type SupportedChallenge, strongestChallenge } from './digest-response.js'
import type { BackendAuthConfig } from './schema.js'
import type { Scheme } from './scheme.js'

/** Maximum number of targets whose challenges are remembered. */
const MAX_TARGETS = 256
const EMPTY = new Uint8Array(0)

/** Last challenge of a target, and the number of requests that used it. */
interface Known {
  readonly challenge: SupportedChallenge
  readonly cnonce: string
  count: number
}

/**
 * Responds to the Digest challenges of targets (RFC 7616). The challenge of a target is remembered, so only
 * the first request, and the first after a nonce expires, is sent twice.
 */
export function digestScheme(config: NonNullable<BackendAuthConfig['digest']>, env: CompileEnv): Scheme {
  const { username, password, allowWeak } = config
  const known = new LRUCache<string, Known>({ max: MAX_TARGETS })
  const used = env.slot<Known | null>()
  return {
    needsBody: false,
    setsAuthorization: true,
    onAttempt(x) {
      const target = known.get(x.target) ?? null
      used.set(x, target)
      if (target === null) removeHeader(x.headers, 'authorization')
      else setHeader(x.headers, 'authorization', authorizationFor(x, target, { username, password }))
      return null
    },
    onRejected(x, { status, fields }) {
      if (status !== 401) return false
      const challenge = strongestChallenge(challengesIn(fields), allowWeak)
      if (challenge === null) {
        env.report('backend_digest_failed', {
          target: x.target,
          reason: 'the target offers no supported Digest algorithm',
        })
        return false
      }
      // A streamed body has already been sent, so its digest is unknown.
      if (challenge.qop === 'auth-int' && x.body === null && x.contentLength !== 0) return false
      const before = used.get(x) ?? null
      const now = known.get(x.target) ?? null
      // Another request has received a new challenge in the meantime.
      if (now !== null && now !== before) return true
      // The nonce was valid, so the password is wrong.
      if (now !== null && !challenge.isStale) {
        known.delete(x.target)
        return false
      }
      known.set(x.target, { challenge, cnonce: randomBytes(18).toString('base64url'), count: 0 })
      return true
    },
  }
}

function authorizationFor(
  x: Exchange,
  target: Known,
  credentials: { readonly username: string; readonly password: string },
): string {
  const uri = withQuery(x.sentPath, x)
  const { challenge, cnonce } = target
  const count = ++target.count
  return digestResponse(challenge, {
    ...credentials,
    method: x.method,
    uri,
    body: x.body ?? EMPTY,
    cnonce,
    count,
  })
}
