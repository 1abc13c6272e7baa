import type { Address } from './plan-listener.js'
import type { OtlpPlan } from './plan-log.js'

/** Settings of the metrics. */
export interface MetricsPlan {
  readonly enabled: boolean
  /** Additional unauthenticated address for metrics and health checks. */
  readonly address?: Address
  /** Export to an OpenTelemetry collector. */
  readonly otlp?: MetricsExportPlan
}

/** Settings of the export of metrics. */
export interface MetricsExportPlan extends OtlpPlan {
  readonly intervalMs: number
}

/** Load shedding of a worker. */
export interface OverloadPlan {
  /** Maximum processor time that requests wait for a busy worker, in milliseconds; 0: no limit. */
  readonly maxLoopDelayMs: number
  /** Maximum number of requests in flight per worker; null: no limit. */
  readonly maxInFlight: number | null
  readonly retryAfterMs: number
}

/** Graceful shutdown. */
export interface DrainPlan {
  /** Time between failing the readiness check and closing the listeners. */
  readonly delayMs: number
  /** Maximum time for requests in flight to finish. */
  readonly timeoutMs: number
}
