import type { SoakFigures, Trial } from '../model/trial.js'
import type { LogNode } from '../servers/elasticsearch.js'
import type { FaultOrigin } from '../servers/fault-origin.js'
import type { RunningGateway } from '../servers/gateway.js'

/** What a fault is injected into. */
export interface TrialSystem {
  readonly gateway: RunningGateway
  readonly origin: FaultOrigin
  /** On the same port of another address; null: the fault needs none. */
  readonly otherOrigin: FaultOrigin | null
  /** Null: there is no traffic log. */
  readonly logNode: LogNode | null
  readonly workers: number
  /** Makes the name of the upstream mean this address from now on. */
  rename(address: string): void
}

/** How the system of a trial differs from the usual one, whose upstream is the origin by its address. */
export interface FaultNeeds {
  /** The gateway asks for the origin by a name of its own. */
  readonly isNamed?: boolean
  readonly hasOtherOrigin?: boolean
  /** More of the upstream in the document. */
  readonly upstream?: object
  /** Whether the origin is not to be asked any more once all is done. */
  readonly isLeft?: boolean
}

/** What a trial saw, before it is checked. */
export type Observed = Omit<Trial, 'failures' | 'invalid'>

/** What may be lost in a trial, and what has to arrive; without anything said nothing may be lost. */
export interface Expectation {
  /** Requests that may end without an answer. */
  readonly lostRequests: number
  /** Requests that may be sent once more, because their kept connection ended without a byte of an answer. */
  readonly sentAgain: number
  /** What answers may have. */
  readonly statuses: readonly number[]
  /** Answers of 500 and above that the gateway gives by itself: just so many. */
  readonly gatewayErrors: number
  /** Those that come from the upstream: just so many. */
  readonly upstreamErrors: number
  /** Records that may be lost, whether the log counts them or not. */
  readonly lostRecords: number
  /** Workers that take the place of others: just so many. */
  readonly newWorkers: number
  /** How many more requests the origins may get than the gateway. */
  readonly moreRequests: number
  /** How many requests an address may get that nobody should ask any more. */
  readonly strayRequests: number
}

/** Nothing is lost, and nothing arrives that nobody has sent. */
export const NOTHING_LOST: Expectation = {
  ...{ lostRequests: 0, sentAgain: 0, statuses: [200], gatewayErrors: 0, upstreamErrors: 0 },
  ...{ lostRecords: 0, newWorkers: 0, moreRequests: 0, strayRequests: 0 },
}

/** Something that is done to a system under load. */
export interface Fault {
  readonly needs?: FaultNeeds
  /** Begins it; resolves when it is done, or lasts. */
  begin(system: TrialSystem, seconds: number): Promise<void>
  /** Goes back, or resolves when what was begun is over. Absent: it is over as soon as it is done. */
  end?(system: TrialSystem): Promise<void>
  /** What may be lost, as what was observed shows. Absent: nothing. */
  expects?(observed: Observed): Partial<Expectation>
  /** Figures of its own. */
  soak?(): SoakFigures
}
