import type { Exchange } from '@sluice/core'
import type { Target } from '../upstream/target.js'
import { receivedTarget } from './received-target.js'
import type { ProxyAction } from './route.js'

/** Path and query as the target gets them. */
export function sentPath({ target }: ProxyAction, x: Exchange): string {
  return target === null ? receivedTarget(x) : target(x)
}

/** The Host field that the target gets. */
export function sentHost({ host }: ProxyAction, x: Exchange, target: Target): string {
  return host === 'keep' ? x.authority : host === 'upstream' ? target.authority : host
}

/** Shows attempt hooks what will be sent; they may still change the query, which follows the path. */
export function announce(action: ProxyAction, x: Exchange, target: Target): void {
  const sent = sentPath(action, x)
  x.attempts.sentHost = sentHost(action, x, target)
  const hasQuery = x.query !== '' || x.hasEmptyQuery
  x.attempts.sentPath = hasQuery ? sent.slice(0, sent.length - x.query.length - 1) : sent
}
