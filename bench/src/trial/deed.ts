import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import type { RunningGateway } from '../contestant/gateway.js'
import type { SteeredOrigin } from '../contestant/steered-origin.js'
import type { SoakFigures } from '../model/trial.js'
import type { Expectation, Seen } from './judgement.js'

/** What a trial takes place on. */
export interface TrialStage {
  readonly gateway: RunningGateway
  readonly origin: SteeredOrigin
  /** On the same port of another address; null: the trial needs none. */
  readonly otherOrigin: SteeredOrigin | null
  /** Null: there is no traffic log. */
  readonly node: ElasticsearchNode | null
  readonly workers: number
  /** Ends a node, and starts it again, which is then the one of the stage. */
  restartNode(): Promise<void>
  /** Makes the name of the upstream mean this address from now on. */
  rename(address: string): void
  /** Aborted when the load is to end before its time. */
  readonly signal: AbortSignal
}

/** How a gateway of a trial differs from the usual one, whose upstream is the origin by its address. */
export interface StageWish {
  /** Behind which the gateway asks for the origin by a name of its own. */
  readonly isNamed?: boolean
  readonly hasOtherOrigin?: boolean
  /** More of the upstream in the document. */
  readonly upstream?: object
  /** Whether the origin is not to be asked any more once all is done. */
  readonly isLeft?: boolean
}

/** Something that is done to a system under load. */
export interface Deed {
  readonly wish?: StageWish
  /**
   * What it costs may only be of requests that were sent until it has begun, and not longer before than so; nothing may be
   * lost of all others. Absent: what may be lost may be so at any time.
   */
  readonly leadSeconds?: number
  /** Begins it; resolves when it is done, or lasts. */
  begin(stage: TrialStage, seconds: number): Promise<void>
  /** Goes back, or resolves when what was begun is over. */
  end(stage: TrialStage): Promise<void>
  /** What may be lost, as what was seen tells. */
  expects(seen: Seen): Expectation
  /** Figures of its own. */
  soak?(): SoakFigures
}

/** Of what is over as soon as it is done. */
export async function nothingMore(): Promise<void> {}
