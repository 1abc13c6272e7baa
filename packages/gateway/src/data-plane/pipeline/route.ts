import type { TimeoutsPlan, WebSocketPlan } from '@sluice/config'
import type { CaptureRules, Exchange, Reply, RouteFacts } from '@sluice/core'
import type { RouteMetrics } from '../../telemetry/metrics.js'
import type { Upstream } from '../upstream/upstream.js'
import type { Chain } from './chain.js'
import type { Refreshes } from './refreshes.js'

/** In the order of the numbers that stand for them. */
export const CRITICALITIES = ['low', 'normal', 'critical'] as const

/** A route with everything that could be decided before a request comes. */
export interface Route extends RouteFacts {
  readonly log: RouteLog
  readonly chain: Chain
  /** Whether it takes paths with %2F and %5C. */
  readonly keepsEncodedSlashes: boolean
  /** Index of CRITICALITIES: which requests an overloaded worker refuses first. */
  readonly criticality: number
  readonly action: RouteAction
  readonly metrics: RouteMetrics
  /** Sends requests again for policies that keep responses; null: nothing is sent. */
  readonly refreshes: Refreshes | null
}

/** What the traffic log gets of a route's exchanges; methods may differ. */
export interface RouteLog {
  readonly rule: LogRule
  readonly byMethod: ReadonlyMap<string, LogRule> | null
  /** An exchange that takes longer shows how the connections to its upstream were. */
  readonly slowMs: number
}

export interface LogRule {
  /** No record at all. */
  readonly isOff: boolean
  /** Null: the record alone. */
  readonly capture: CaptureRules | null
  /** What each policy did and took is noted, for records that show it. */
  readonly isTraced: boolean
}

/** The rule for a method. */
export function logRuleOf(log: RouteLog, method: string): LogRule {
  return log.byMethod === null ? log.rule : (log.byMethod.get(method) ?? log.rule)
}

export type RouteAction =
  | ProxyAction
  | {
      readonly kind: 'answer'
      /** A fixed response, or one made for the request (redirects). */
      reply(x: Exchange): Reply
    }

export interface DeliveryBounds {
  /** Longest wait for the target's next bytes, and for the client to take what it has. */
  readonly idleMs: number
  /** Bytes that are read ahead of a slow client. */
  readonly bufferBytes: number
}

export interface ProxyAction {
  readonly kind: 'proxy'
  readonly upstream: Upstream
  readonly timeouts: TimeoutsPlan
  readonly delivery: DeliveryBounds
  /** Path and query for the target; null: those of the request as received. */
  readonly target: ((x: Exchange) => string) | null
  /** The Host field: `keep` the client's, `upstream` the target's, or this value. */
  readonly host: string
  /** Null: handshakes are refused. */
  readonly webSocket: WebSocketPlan | null
}
