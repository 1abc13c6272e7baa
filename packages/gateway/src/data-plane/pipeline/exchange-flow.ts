import type { ErrorCode, Exchange, Reply } from '@sluice/core'
import type { ClientStream } from '../listener/listener.js'
import type { PipelineContext } from './context.js'
import type { ExchangeTimer } from './exchange-timer.js'
import type { Hook } from './hook.js'
import type { Route } from './route.js'

/** What the parts of a flow know of it: ProxyPass, ResponseDelivery, SlowReader. */
export interface ExchangeFlow {
  readonly x: Exchange
  /** The exchange's id as it came from the listener, which checked it; a policy may have changed `x.id` since. */
  readonly id: string
  readonly client: ClientStream
  readonly route: Route
  readonly context: PipelineContext
  readonly timer: ExchangeTimer
  /** There will be a record of the exchange. */
  readonly isLogged: boolean
  readonly isOver: boolean
  /** Runs the hooks of a phase, null: none; then calls the method `next` of its owner, unless a hook refuses or fails. */
  runPhase<Owner>(hooks: readonly Hook[] | null, owner: Owner, next: (this: Owner) => void): void
  /** Answers with a refusal; nothing of another answer has gone to the client yet. */
  refuse(reply: Reply): void
  /** Cuts the connection of a client whose response has begun and cannot be completed. */
  cut(result: 'error' | 'aborted', code: ErrorCode, message: string): void
  /** A policy threw: 500 while nothing has gone out, then the response is cut. */
  fault(error: unknown): void
  /** The response has been handed over. */
  finish(): void
}
