import type { ErrorCode, Exchange, Reply } from '@sluice/core'
import type { ClientStream } from '../listen/listener.js'
import type { PipelineContext } from './context.js'
import type { ExchangeTimer } from './exchange-timer.js'
import type { Hook } from './hook.js'
import type { Route } from './route.js'

/** The view of a flow that its parts have: ProxyPass, ResponseDelivery and SlowReader. */
export interface ExchangeFlow {
  readonly x: Exchange
  /** Exchange id as validated by the listener. A policy may have changed `x.id` since. */
  readonly id: string
  readonly client: ClientStream
  readonly route: Route
  readonly context: PipelineContext
  readonly timer: ExchangeTimer
  /** True if the exchange gets a log record. */
  readonly isLogged: boolean
  readonly isOver: boolean
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
