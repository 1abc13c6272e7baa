import type { LogSink } from '@sluice/core'
import type { Heartbeat } from '../../telemetry/heartbeat.js'
import type { Metrics } from '../../telemetry/metrics.js'
import type { CachedClock } from '../lib/cached-clock.js'
import type { TimerWheel } from '../lib/timer-wheel.js'
import type { WebSockets } from '../websocket/websockets.js'

/** What all flows of a worker share. */
export interface PipelineContext {
  readonly wheel: TimerWheel
  /** Deadlines count from it. */
  readonly clock: CachedClock
  readonly metrics: Metrics
  readonly log: LogSink
  /** Of the worker, whose timers have to wait under load. */
  readonly heartbeat: Heartbeat
  /** Reports to the operator; rate-bounded by the receiver. */
  report(event: string, fields: Readonly<Record<string, unknown>>): void
  /** The longest delay of the event loop of late, ms. */
  loopLagMs(): number
  /** Those that were switched to the WebSocket protocol are not among them. */
  inFlight: number
  readonly webSockets: WebSockets
  /** From now on every response closes its connection; new ones are still taken. */
  isLeaving: boolean
  /** No more connections are taken. */
  isDraining: boolean
  /** The drain's time is over: connections that close now are closed by the gateway. */
  isCutting: boolean
}

/** Holds a snapshot open while a request uses it. */
export interface Lease {
  release(): void
}
