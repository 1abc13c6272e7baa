import { randomBytes } from 'node:crypto'
import { type CompileEnv, type Exchange, removeHeader, setHeader, withQuery } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import { type DigestDemand, demandIn, digestAnswer } from './digest-answer.js'
import { challengesIn } from './digest-challenge.js'
import type { BackendAuthConfig } from './schema.js'
import type { Scheme } from './scheme.js'

/** Targets whose demands are remembered. */
const MAX_TARGETS = 256
const EMPTY = new Uint8Array(0)

/** What a target has asked for last, and how often that was answered. */
interface Known {
  readonly demand: DigestDemand
  readonly cnonce: string
  count: number
}

/**
 * Answers the challenges of targets (RFC 7616). What a target has asked for is remembered, so that only the first request,
 * and each after a nonce has become stale, is made twice.
 */
export function digestScheme(config: NonNullable<BackendAuthConfig['digest']>, env: CompileEnv): Scheme {
  const { username, password, allowWeak = false } = config
  const known = new LRUCache<string, Known>({ max: MAX_TARGETS })
  const used = env.slot<Known | null>()
  return {
    needsBody: false,
    setsAuthorization: true,
    onAttempt(x) {
      const target = known.get(x.target) ?? null
      used.set(x, target)
      if (target === null) removeHeader(x.headers, 'authorization')
      else setHeader(x.headers, 'authorization', answerFor(x, target, { username, password }))
      return null
    },
    onRejected(x, { status, fields }) {
      if (status !== 401) return false
      const demand = demandIn(challengesIn(fields), allowWeak)
      if (demand === null) {
        env.report('backend_digest_failed', {
          target: x.target,
          reason: 'it asks for no digest that may be used',
        })
        return false
      }
      // A body that is streamed has gone by, and its digest is not known.
      if (demand.qop === 'auth-int' && x.body === null && x.contentLength !== 0) return false
      const before = used.get(x) ?? null
      const now = known.get(x.target) ?? null
      // Another request has learned of it meanwhile.
      if (now !== null && now !== before) return true
      // The password was wrong, whatever the nonce is.
      if (now !== null && !demand.isStale) {
        known.delete(x.target)
        return false
      }
      known.set(x.target, { demand, cnonce: randomBytes(18).toString('base64url'), count: 0 })
      return true
    },
  }
}

function answerFor(
  x: Exchange,
  target: Known,
  credentials: { readonly username: string; readonly password: string },
): string {
  const uri = withQuery(x.sentPath, x)
  const { demand, cnonce } = target
  const count = ++target.count
  return digestAnswer(demand, { ...credentials, method: x.method, uri, body: x.body ?? EMPTY, cnonce, count })
}
