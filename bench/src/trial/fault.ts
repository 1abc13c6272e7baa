import type { SoakFigures, Trial } from '../model/trial.js'
import type { LogNode } from '../servers/elasticsearch.js'
import type { FaultOrigin } from '../servers/fault-origin.js'
import type { RunningGateway } from '../servers/gateway.js'

/** The system into which a fault is injected. */
export interface TrialSystem {
  readonly gateway: RunningGateway
  readonly origin: FaultOrigin
  /** Origin on the same port of another address, or null if the fault needs none. */
  readonly otherOrigin: FaultOrigin | null
  /** Elasticsearch node of the traffic log, or null. */
  readonly logNode: LogNode | null
  readonly workers: number
  /** Changes the address of the upstream's name. */
  rename(address: string): void
}

/** Differences from the usual system, whose upstream is the origin by address. */
export interface FaultNeeds {
  /** True if the gateway reaches the origin by name. */
  readonly isNamed?: boolean
  readonly hasOtherOrigin?: boolean
  /** Additional keys of the upstream. */
  readonly upstream?: object
  /** True if the origin must get no requests after the fault. */
  readonly isLeft?: boolean
}

/** Observations of a trial before they are checked. */
export type Observed = Omit<Trial, 'failures' | 'invalid'>

/** Allowed losses of a trial, and expected responses. The default allows no losses. */
export interface Expectation {
  /** Requests that may end without a response. */
  readonly lostRequests: number
  /** Requests that may be sent again. */
  readonly sentAgain: number
  readonly statuses: readonly number[]
  /** Expected number of responses of 500 and above from the gateway. */
  readonly gatewayErrors: number
  /** Expected number of these from the upstream. */
  readonly upstreamErrors: number
  /** Log records that may be lost, counted or not. */
  readonly lostRecords: number
  /** Expected number of replaced workers. */
  readonly newWorkers: number
  /** Maximum number of requests that the origins get in addition to those of the gateway. */
  readonly moreRequests: number
  /** Maximum number of requests to an address that should get none. */
  readonly strayRequests: number
}

/** Allows no loss and no unexpected data. */
export const NOTHING_LOST: Expectation = {
  ...{ lostRequests: 0, sentAgain: 0, statuses: [200], gatewayErrors: 0, upstreamErrors: 0 },
  ...{ lostRecords: 0, newWorkers: 0, moreRequests: 0, strayRequests: 0 },
}

/** A fault that is injected into a system under load. */
export interface Fault {
  readonly needs?: FaultNeeds
  /** Starts the fault. Resolves when it is done, or when it is in effect. */
  begin(system: TrialSystem, seconds: number): Promise<void>
  /** Ends the fault. Without it, the fault ends when `begin` resolves. */
  end?(system: TrialSystem): Promise<void>
  /** Returns the allowed losses for the observations. Without it, none are allowed. */
  expects?(observed: Observed): Partial<Expectation>
  soak?(): SoakFigures
}
