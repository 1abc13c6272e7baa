import type { TargetRole } from '@sluice/config'
import type { ClientShares } from './client-shares.js'
import type { TargetState } from './state/target-state.js'
import type { Transport } from './transport.js'
import type { UpgradeTransport } from './upgrade-attempt.js'

/** One address of an upstream, with its connections and what it is doing now. */
export interface Target {
  /** `http://10.0.0.5:9000`. */
  readonly origin: string
  /** What the Host field says when the route sends the target's own. */
  readonly authority: string
  /** The one of its addresses that it stands for; null: all that its name has. */
  readonly address: string | null
  readonly weight: number
  readonly role: TargetRole
  /** 0: the primaries, then the failover targets by priority. */
  readonly level: number
  /** False: it is sent nothing new. `state` alone sets it; whoever chooses reads it. */
  isAvailable: boolean
  readonly state: TargetState
  readonly transport: Transport
  /** For requests to switch protocols. */
  readonly upgrades: UpgradeTransport
  readonly shares: ClientShares
  /** Attempts under way or waiting for a connection. */
  active: number
  /** Attempts that may be so at once. */
  readonly capacity: number
  attempts: number
  failures: number
  /** A kept connection died under a request: others may be dead too. New ones are opened until one is answered. */
  doubtsKept: boolean
  /** Share of smooth weighted round-robin; the balancer's own. */
  turn: number
}
