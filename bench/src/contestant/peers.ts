import type { PeerName } from '../model/run.js'
import { ENVOY } from './envoy.js'
import { HAPROXY } from './haproxy.js'
import { NGINX } from './nginx.js'
import type { PeerKind } from './peer-kind.js'
import { findProgram } from './program.js'
import type { RunningServer, Seat } from './running-server.js'

export const PEER_KINDS: Readonly<Record<PeerName, PeerKind>> = {
  nginx: NGINX,
  haproxy: HAPROXY,
  envoy: ENVOY,
}

/** What to do about a peer that is not installed; null when it is. */
export function missingPeer(name: PeerName): string | null {
  const { program, remedy } = PEER_KINDS[name]
  if (findProgram(program) !== null) return null
  return `${name} is not installed; ${remedy}, or leave ${name} out of the peers`
}

/** @throws Error with the remedy when it is not installed */
export function startPeer(name: PeerName, seat: Seat, originUrl: string): Promise<RunningServer> {
  const kind = PEER_KINDS[name]
  const file = findProgram(kind.program)
  if (file === null) throw new Error(missingPeer(name) ?? name)
  return kind.start(seat, originUrl, file)
}
