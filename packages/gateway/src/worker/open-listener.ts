import type { ListenerPlan } from '@sluice/config'
import type { RequestIds } from '@sluice/core'
import type { CachedClock } from '../lib/cached-clock.js'
import type { TimerWheel } from '../lib/timer-wheel.js'
import type { Listener, ListenerSettings, RequestHandler } from '../listen/listener.js'
import { openNodeListener } from '../listen/node/listener.js'
import { openUwsListener } from '../listen/uws/listener.js'
import { limitReceiveBuffers } from '../listen/uws/receive-buffer.js'

interface ListenerOptions {
  readonly plan: ListenerPlan
  /** Port to bind if the plan says 0. */
  readonly port: number
  readonly settings: ListenerSettings
  readonly handler: RequestHandler
  readonly ids: RequestIds
  readonly clock: CachedClock
  readonly wheel: TimerWheel
  /** Returns the current secret of session tickets (`engine: node`). Undefined: one of this listener. */
  readonly ticketSecret?: (() => Uint8Array) | undefined
  /** Called with an unexpected error. */
  readonly onFault: (error: unknown) => void
  /** Called when a connection is rejected because of a limit. */
  readonly onRejected: () => void
  /** Called when renewed certificates are in use. */
  readonly onRenewal: () => void
}

/** Opens a listener with the engine that the plan names. @throws Error if it cannot be opened. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { plan, ...rest } = options
  const open = plan.engine === 'node' ? openNodeListener : openUwsListener
  return open({ host: plan.host, tls: plan.tls, ...rest })
}

/**
 * Limits the kernel's receive buffers of later connections to these listeners.
 * @throws Error if that fails; the listeners still work.
 */
export function limitReceiveBuffersOf(listeners: readonly Listener[]): Promise<void> {
  return limitReceiveBuffers(listeners.map(({ port }) => port))
}
