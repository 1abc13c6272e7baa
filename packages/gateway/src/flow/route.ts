import type { TimeoutsPlan, WebSocketPlan } from '@sluice/config'
import type { CaptureRules, Exchange, Reply, RouteFacts } from '@sluice/core'
import type { RouteMetrics } from '../telemetry/metrics.js'
import type { Upstream } from '../upstream/upstream.js'
import type { Chain } from './chain.js'
import type { CpuBudget } from './cpu-budget.js'

/** Criticality names, in the order of their numbers. */
export const CRITICALITIES = ['low', 'normal', 'critical'] as const

/** A compiled route, with everything that can be decided before a request arrives. */
export interface Route extends RouteFacts {
  readonly log: RouteLog
  readonly chain: Chain
  /** True if paths with %2F and %5C are accepted. */
  readonly keepsEncodedSlashes: boolean
  /** Index into CRITICALITIES. An overloaded worker refuses requests of lower criticality first. */
  readonly criticality: number
  /** CPU time that the policies may use, or null for no limit. */
  readonly cpuBudget: CpuBudget | null
  readonly action: RouteAction
  readonly metrics: RouteMetrics
  /** Sends background requests for policies that store responses; null without such policies. */
  readonly refreshes: RefreshSender | null
}

/** Sender of a route's background refreshes. */
export interface RefreshSender {
  /** Implements CompileEnv.refresh. */
  send(x: Exchange, prepare: (copy: Exchange) => void): boolean
}

/** Log settings of a route, which may depend on the method. */
export interface RouteLog {
  readonly rule: LogRule
  readonly byMethod: ReadonlyMap<string, LogRule> | null
  /** Duration in milliseconds from which a record includes the state of the upstream's connections. */
  readonly slowMs: number
  /** True if records show the time in each phase. Spans do not, and the clock is read less often for them. */
  readonly isTimed: boolean
}

/** Log settings for one method of a route. */
export interface LogRule {
  /** True if no record is written. */
  readonly isOff: boolean
  /** Capture rules, or null for the record alone. */
  readonly capture: CaptureRules | null
  /** True if the record shows the result and duration of each policy. */
  readonly isTraced: boolean
}

/** Returns the rule for a method. */
export function logRuleOf(log: RouteLog, method: string): LogRule {
  return log.byMethod === null ? log.rule : (log.byMethod.get(method) ?? log.rule)
}

/** Action of a route: forward the request, or answer it. */
export type RouteAction =
  | ProxyAction
  | {
      readonly kind: 'answer'
      /** Returns a fixed response, or one that depends on the request, such as a redirect. */
      reply(x: Exchange): Reply
    }

/** Limits for the delivery of a response. */
export interface DeliveryBounds {
  /** Time limit for the target's next bytes, and for a client to accept pending bytes, in milliseconds. */
  readonly idleMs: number
  /** Number of bytes buffered for a slow client. */
  readonly bufferBytes: number
}

/** Action that forwards requests to an upstream. */
export interface ProxyAction {
  readonly kind: 'proxy'
  readonly upstream: Upstream
  readonly timeouts: TimeoutsPlan
  readonly delivery: DeliveryBounds
  /** Returns the path and query for the target; null to use those of the request. */
  readonly target: ((x: Exchange) => string) | null
  /** Source of the Host field: `keep` for the client's, `upstream` for the target's, or a fixed value. */
  readonly host: string
  /** WebSocket settings; null if handshakes are refused. */
  readonly webSocket: WebSocketPlan | null
}
