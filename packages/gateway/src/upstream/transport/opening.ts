import type net from 'node:net'
import { type Exchange, PHASE } from '@sluice/core'

/**
 * Times at which the steps of opening a connection were completed, on the monotonic clock. 0 if there is no such step,
 * or not yet.
 */
export class Opening {
  readonly beganMono = performance.now()
  resolvedMono = 0
  connectedMono = 0
  securedMono = 0

  /** Records when a socket's name is resolved and when it is connected. */
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
 * Divides the time that an exchange has waited for a new connection among the phases of opening it. The connection may
 * have been started for an earlier exchange. Time outside the opening stays in the current phase.
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
