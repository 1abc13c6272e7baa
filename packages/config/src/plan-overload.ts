import type { Address } from './grammar/address.js'

/** What others may learn of how the gateway is. */
export interface MetricsPlan {
  readonly enabled: boolean
  /** Where metrics and health are answered too, to everybody; there when the document has it. */
  readonly address?: Address
}

/** When a worker refuses requests because it has more than it can serve. */
export interface OverloadPlan {
  /** Delay of the event loop, ms; 0: no limit. */
  readonly maxLoopDelayMs: number
  /** Requests in flight, per worker; null: no limit. */
  readonly maxInFlight: number | null
  readonly retryAfterMs: number
}

/** How a gateway ends. */
export interface DrainPlan {
  /** Time between readiness 503 and the listeners closing. */
  readonly delayMs: number
  /** Longest wait for requests in flight. */
  readonly timeoutMs: number
}
