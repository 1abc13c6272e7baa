import type { ListenerPlan } from '@sluice/config'
import type { RequestIds } from '@sluice/core'
import type { CachedClock } from '../lib/cached-clock.js'
import type { TimerWheel } from '../lib/timer-wheel.js'
import type { Gate, Listener, ListenerSettings } from './listener.js'
import { openNodeListener } from './node/listener.js'
import { openUwsListener } from './uws/listener.js'
import { boundReceiveBuffers } from './uws/receive-buffer.js'

export interface ListenerOptions {
  readonly plan: ListenerPlan
  /** The port to bind, where the plan says 0. */
  readonly port: number
  readonly settings: ListenerSettings
  readonly gate: Gate
  readonly ids: RequestIds
  readonly clock: CachedClock
  readonly wheel: TimerWheel
  /** Hears of an error that should not have come this far. */
  readonly onFault: (error: unknown) => void
  /** Hears of a connection over a limit. */
  readonly onTurnedAway: () => void
  /** Hears when changed certificates serve. */
  readonly onRenewal: () => void
}

/** Opens a listener with the engine that the plan names. @throws Error when it cannot be opened. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { plan, ...rest } = options
  const open = plan.engine === 'node' ? openNodeListener : openUwsListener
  return open({ host: plan.host, tls: plan.tls, ...rest })
}

/**
 * Bounds what the kernel holds of each connection that comes to these listeners once this is done.
 * @throws Error when it cannot be bounded; they serve all the same.
 */
export function boundListeners(listeners: readonly Listener[]): Promise<void> {
  return boundReceiveBuffers(listeners.map(({ port }) => port))
}
