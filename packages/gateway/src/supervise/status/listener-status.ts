import type { ListenerPlan } from '@sluice/config'
import { addressText, type Ports } from '../listeners/listener-ports.js'
import type { ListenerStatus } from './status.js'

/** Returns the listeners of a plan with their actual ports. */
export function listenerStatuses(listeners: readonly ListenerPlan[], ports: Ports): ListenerStatus[] {
  return listeners.map(({ address, host, engine, tls, port: planned }) => {
    const port = ports[address] ?? planned
    const url = `${tls === null ? 'http' : 'https'}://${addressText(host, port)}`
    return { address, host, port, engine, tls: tls !== null, url }
  })
}
