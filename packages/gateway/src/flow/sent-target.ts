import type { Exchange } from '@sluice/core'
import type { Target } from '../upstream/target.js'
import type { ExchangeFlow } from './exchange-flow.js'
import { receivedTarget } from './received-target.js'
import type { ProxyAction } from './route.js'

/** Returns the path and query to send to the target. */
export function sentPath({ target }: ProxyAction, x: Exchange): string {
  return target === null ? receivedTarget(x) : target(x)
}

/** Returns the Host field to send to the target. */
export function sentHost({ host }: ProxyAction, x: Exchange, target: Target): string {
  return host === 'keep' ? x.authority : host === 'upstream' ? target.authority : host
}

/** Sets the fields that show attempt hooks the request line to be sent. They may still change the query. */
export function announce(action: ProxyAction, x: Exchange, target: Target): void {
  const sent = sentPath(action, x)
  x.attempts.sentHost = sentHost(action, x, target)
  const hasQuery = x.query !== '' || x.hasEmptyQuery
  x.attempts.sentPath = hasQuery ? sent.slice(0, sent.length - x.query.length - 1) : sent
}

/**
 * Sets the trace fields of an attempt and what its span shows. Returns the value of traceparent. Empty without tracing.
 */
export function sendTrace({ trace, x }: ExchangeFlow, action: ProxyAction, target: Target): string {
  if (trace === null) return ''
  if (trace.isSampled) announce(action, x, target)
  return trace.send(x.headers, x.attempts.count)
}
