import { type Reply, refusal } from '@sluice/core'
import type { Failure } from '../upstream/transport/transport.js'
import type { Upstream } from '../upstream/upstream.js'

const RETRY_SOON = ['retry-after', '1']
/** Refusal detail when no more connections may wait for slow clients. */
export const SLOW_CLIENTS = 'too many connections to the upstream are waiting for slow clients'

/** Returns the refusal if no target is available or all are full. */
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

/** Returns the refusal if too many connections wait for clients. */
export function slowClientsReply(upstream: Upstream): Reply {
  upstream.shed++
  return refusal('GW_OVERLOADED', SLOW_CLIENTS, RETRY_SOON)
}

/** Returns the refusal for a failure that is not retried. */
export function failureReply(upstream: Upstream, failure: Failure): Reply {
  const detail = `upstream '${upstream.name}': ${failure.detail}`
  if (failure.code !== 'GW_OVERLOADED') return refusal(failure.code, detail)
  upstream.shed++
  return refusal(failure.code, detail, RETRY_SOON)
}

/** Returns the refusal for a timeout. @param phase phase whose timeout expired. */
export function lateReply({ name }: Upstream, phase: 'total' | 'connect' | 'headers'): Reply {
  return refusal('GW_UPSTREAM_TIMEOUT', `upstream '${name}' did not answer in time (${phase})`)
}
