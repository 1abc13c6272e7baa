import { type Reply, refusal } from '@sluice/core'
import type { Failure } from '../upstream/transport.js'
import type { Upstream } from '../upstream/upstream.js'

const RETRY_SOON = ['retry-after', '1']
/** Why a connection may not wait for one more client. */
export const CROWDED = 'clients that are slow hold as many connections to the upstream as they may'

/** The refusal where no target takes the request: none is available, or those that are have no room. */
export function noTargetReply(upstream: Upstream): Reply {
  const { name } = upstream
  if (upstream.isDown) {
    upstream.unavailable++
    const { code, retryAfterS } = upstream.downReason
    return refusal(code, `no target of upstream '${name}' is available`, ['retry-after', String(retryAfterS)])
  }
  upstream.shed++
  return refusal(
    'GW_OVERLOADED',
    `all connections to upstream '${name}' are busy and its queue is full`,
    RETRY_SOON,
  )
}

/** The refusal where as many connections wait for clients as may. */
export function crowdedReply(upstream: Upstream): Reply {
  upstream.shed++
  return refusal('GW_OVERLOADED', CROWDED, RETRY_SOON)
}

/** The refusal after a failure that stands. */
export function failureReply(upstream: Upstream, failure: Failure): Reply {
  const detail = `upstream '${upstream.name}': ${failure.detail}`
  if (failure.code !== 'GW_OVERLOADED') return refusal(failure.code, detail)
  upstream.shed++
  return refusal(failure.code, detail, RETRY_SOON)
}

/** The refusal when nothing came in time. @param phase whose time-out it was. */
export function lateReply({ name }: Upstream, phase: 'total' | 'connect' | 'headers'): Reply {
  return refusal('GW_UPSTREAM_TIMEOUT', `upstream '${name}' did not answer in time (${phase})`)
}
