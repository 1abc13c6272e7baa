import type { ListenerPlan } from '@sluice/config'
import type { RequestIds } from '@sluice/core'
import type { CachedClock } from '../lib/cached-clock.js'
import type { TimerWheel } from '../lib/timer-wheel.js'
import type { Listener, ListenerSettings, RequestHandler } from '../listen/listener.js'
import { createNodeListener } from '../listen/node/listener.js'
import { createUwsListener } from '../listen/uws/listener.js'

interface ListenerOptions {
  readonly plan: ListenerPlan
  /** Port to bind if the plan says 0. */
  readonly port: number
  readonly settings: ListenerSettings
  readonly handler: RequestHandler
  readonly ids: RequestIds
  readonly clock: CachedClock
  readonly wheel: TimerWheel
  /** Returns the current secret of session tickets (`engine: node`). If undefined, the listener creates one. */
  readonly ticketSecret?: (() => Uint8Array) | undefined
  /** Called with an unexpected error. */
  readonly onFault: (error: unknown) => void
  /** Called when a connection is rejected because of a limit. */
  readonly onRejected: () => void
  /** Called when renewed certificates are in use. */
  readonly onRenewal: () => void
}

/** Creates a listener with the engine that the plan names. @throws Error if a certificate cannot be read. */
export function createListener(options: ListenerOptions): Listener {
  const { plan, ...rest } = options
  const create = plan.engine === 'node' ? createNodeListener : createUwsListener
  return create({ host: plan.host, tls: plan.tls, ...rest })
}
