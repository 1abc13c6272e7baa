import type { ErrorCode, Reply } from '@sluice/core'
import type { ClientOwner } from '../listen/listener.js'
import type { RequestTrace } from '../tracing/tracing.js'
import type { BodyReader } from './body-collector.js'
import type { PipelineContext } from './context.js'
import type { ExchangeTimer, TimerOwner } from './exchange-timer.js'
import type { Hook, HookCursor } from './hook.js'
import type { Route } from './route.js'

/** Owner of a filtered body. */
export interface FilterOwner {
  /** Called when delayed filters have passed on their bytes and the client has accepted them. */
  onDrain(): void
  /** Called when a `send` or `end` that could not finish at once has finished. */
  onFiltered(): void
}

/**
 * A flow as its parts see it: ProxyPass, ResponseDelivery and SlowReader call its methods. The client, the timer, the
 * collector of the request body and the filters of a reply send it their events.
 */
export interface ExchangeFlow extends ClientOwner, TimerOwner, BodyReader, FilterOwner, HookCursor {
  /** Exchange id as validated by the listener. A policy may have changed `x.id` since. */
  readonly id: string
  readonly route: Route
  readonly context: PipelineContext
  readonly timer: ExchangeTimer
  /** True if the exchange gets a log record. */
  readonly isLogged: boolean
  /** Trace of the exchange, or null without tracing. */
  readonly trace: RequestTrace | null
  /** Runs the hooks of a phase, if any, then calls the owner's method `next`, unless a hook refuses or fails. */
  runPhase<Owner>(hooks: readonly Hook[] | null, owner: Owner, next: (this: Owner) => void): void
  /** Answers with a refusal. No part of another response may have been sent. */
  refuse(reply: Reply): void
  /** Closes the connection of a client whose response has started and cannot be completed. */
  cut(result: 'error' | 'aborted', code: ErrorCode, message: string): void
  /** Handles an exception from a policy: answers 500, or cuts the response if it has started. */
  fault(error: unknown): void
  /** Ends the flow after the response was handed over. */
  finish(): void
}
