import type { TargetRole } from '@sluice/config'
import type { ClientConnectionQuota } from './client-connection-quota.js'
import type { UpgradeTransport } from './http1/upgrade-attempt.js'
import type { TargetState } from './state/target-state.js'
import type { TargetTraffic } from './target-traffic.js'
import type { Transport } from './transport/transport.js'

/** A target of an upstream, with its connections and current load. */
export interface Target {
  /** Origin, for example `http://10.0.0.5:9000`. */
  readonly origin: string
  /** Host field, if the route sends the target's own. */
  readonly authority: string
  /** Resolved address, or null for all addresses of the name. */
  readonly address: string | null
  readonly weight: number
  readonly role: TargetRole
  /** Level: 0 for the primaries, then the failover targets by priority. */
  readonly level: number
  /** False if it gets no new requests. Set only by `state`. */
  isAvailable: boolean
  readonly state: TargetState
  readonly transport: Transport
  readonly upgrades: UpgradeTransport
  readonly quota: ClientConnectionQuota
  /** Number of attempts in progress or waiting for a connection. */
  active: number
  /** Maximum number of such attempts. */
  readonly capacity: number
  /** Counters of responses. Shared by the targets beyond the bound. */
  traffic: TargetTraffic
  attempts: number
  failures: number
  /**
   * True after a reused connection died under a request: others may be dead too, so new ones are opened until one
   * succeeds.
   */
  suspectsStale: boolean
  /** Current weight in smooth weighted round-robin. Belongs to the balancer. */
  turn: number
}
