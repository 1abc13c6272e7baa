import type { LogSink } from '@sluice/core'
import type { CachedClock } from '../lib/cached-clock.js'
import type { TimerWheel } from '../lib/timer-wheel.js'
import type { WebSockets } from '../protocol/websocket/websockets.js'
import type { Heartbeat } from '../telemetry/heartbeat.js'
import type { Metrics } from '../telemetry/metrics.js'
import type { Tracing } from '../tracing/tracing.js'

/** Services and state shared by all flows of a worker. */
export interface PipelineContext {
  readonly wheel: TimerWheel
  readonly clock: CachedClock
  readonly metrics: Metrics
  readonly log: LogSink
  /** Tracing of new requests, or null if it is off. */
  tracing: Tracing | null
  /** Heartbeat of the worker. Its timer can be late under load. */
  readonly heartbeat: Heartbeat
  /** Reports an event to the operator. The receiver limits the rate. */
  report(event: string, fields: Readonly<Record<string, unknown>>): void
  /** Returns the longest recent delay of the event loop in milliseconds. */
  loopLagMs(): number
  /** Number of requests in flight, without those upgraded to WebSocket. */
  inFlight: number
  readonly webSockets: WebSockets
  /** True once every response closes its connection. New connections are still accepted. */
  isLeaving: boolean
  /** True once no more connections are accepted. */
  isDraining: boolean
  /** True once the drain timeout has passed. The gateway itself closes the connections that close from now on. */
  isCutting: boolean
}

/** A reference that keeps a snapshot open while a request uses it. */
export interface Lease {
  release(): void
}
