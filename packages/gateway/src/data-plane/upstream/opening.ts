import type net from 'node:net'
import { type Exchange, PHASE } from '@sluice/core'

/** When the steps of opening a connection were done, on the monotonic clock; 0: there was no such step, or not yet. */
export class Opening {
  readonly beganMono = performance.now()
  resolvedMono = 0
  connectedMono = 0
  securedMono = 0

  /** Notes when the name of a plain or TLS socket has an address, and when it is connected. */
  watch(socket: net.Socket): void {
    socket.once('lookup', () => {
      this.resolvedMono = performance.now()
    })
    socket.once('connect', () => {
      this.connectedMono = performance.now()
    })
  }

  noteSecured(): void {
    this.securedMono = performance.now()
  }
}

/**
 * Divides the time that an exchange has waited for a connection which was opened for it, or for another one before.
 * What does not fall into the opening stays with the phase it is in.
 */
export function attributeOpening({ times }: Exchange, opening: Opening): void {
  const since = times.sinceMono
  const { beganMono, resolvedMono, connectedMono, securedMono } = opening
  const dialledMono = resolvedMono === 0 ? beganMono : resolvedMono
  times.attribute(PHASE.upstreamName, overlap(since, beganMono, dialledMono))
  times.attribute(PHASE.upstreamTcp, overlap(since, dialledMono, connectedMono))
  if (securedMono !== 0) times.attribute(PHASE.upstreamTls, overlap(since, connectedMono, securedMono))
}

function overlap(since: number, from: number, to: number): number {
  return Math.max(0, to - Math.max(since, from))
}
