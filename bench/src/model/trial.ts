import { type Static, type TSchema, Type } from '@sinclair/typebox'

const orNull = <T extends TSchema>(schema: T) => Type.Union([Type.Null(), schema])
const Counts = Type.Record(Type.String(), Type.Number())
const FromTo = Type.Tuple([Type.Number(), Type.Number()])

/** A trial: checks whether anything is lost when a fault is injected under load. */
export interface TrialPlan {
  /** Id, unique within the suite: lower-case words joined by `-`. */
  readonly id: string
  /** Title for people, at most 40 characters. */
  readonly title: string
  /** Description of the fault, one sentence. */
  readonly action: string
  readonly workers: number
  /** Destination of the traffic log, where records are counted. */
  readonly log: 'none' | 'elasticsearch'
  /** True if the trial needs Elasticsearch. */
  readonly needsElasticsearch: boolean
  readonly connections: number
}

/** A phase of a trial. */
export const TrialPhase = Type.Object({
  name: Type.Union([Type.Literal('before'), Type.Literal('during'), Type.Literal('after')]),
  seconds: Type.Number(),
  sent: Type.Number(),
  answered: Type.Number(),
  /** Requests without a response, and responses other than 200. */
  failed: Type.Number(),
  /** Median latency from the planned time, so that waiting counts. */
  p50Micros: orNull(Type.Number()),
  p99Micros: orNull(Type.Number()),
})
export type TrialPhase = Static<typeof TrialPhase>

/** Memory and open files over a long load. */
const SoakFigures = Type.Object({
  reloads: Type.Number(),
  failedReloads: Type.Number(),
  samples: Type.Number(),
  /** Time from the first to the last sample, in seconds. */
  spanSeconds: Type.Number(),
  /** Growth of all worker heaps by least squares, with its standard error. */
  heap: orNull(
    Type.Object({ bytes: Type.Number(), bytesPerHour: Type.Number(), errorPerHour: Type.Number() }),
  ),
  rssBytes: FromTo,
  files: FromTo,
})
/** Memory and open files over a long load. */
export type SoakFigures = Static<typeof SoakFigures>

/** Observations and verdict of a trial. */
export const Trial = Type.Object({
  id: Type.String(),
  title: Type.String(),
  action: Type.String(),
  workers: Type.Number(),
  connections: Type.Number(),
  /** Planned requests per second, independent of responses. */
  targetPerSecond: Type.Number(),
  saturationPerSecond: Type.Number(),
  /** Number of requests. A request that was sent again counts once. */
  requests: Type.Number(),
  /** Requests that were sent again, because their kept-alive connection closed without a response byte. */
  sentAgain: Type.Number(),
  /** Requests without a response, by reason. */
  lost: Type.Object({
    connect: Type.Number(),
    reset: Type.Number(),
    timeout: Type.Number(),
    unsent: Type.Number(),
  }),
  statuses: Counts,
  /** Responses with status 200 and an unexpected body. */
  wrongBodies: Type.Number(),
  /** Number of times that unexpected bytes arrived, such as a second response. */
  unasked: Type.Number(),
  /** Responses of 500 and above from the gateway itself, and from the upstream. */
  gatewayErrors: Type.Number(),
  upstreamErrors: Type.Number(),
  phases: Type.Array(TrialPhase),
  /** Time from the end of the load until all records were delivered, in seconds. */
  deliveredSeconds: orNull(Type.Number()),
  /** Final location of the records. Null without a traffic log. */
  log: orNull(
    Type.Object({
      documents: Type.Number(),
      /** Records that were refused permanently and kept. */
      dead: Type.Number(),
      /** Records that the log itself reports as lost. */
      dropped: Type.Number(),
      /** Documents of requests that already have one. */
      repeated: Type.Number(),
      /** Responses without any record. Negative if there are more records than requests. */
      missing: Type.Number(),
    }),
  ),
  /** Workers that serve at the end but not at the start. */
  newWorkers: Type.Number(),
  /** Requests at the origins. `stray` went to an address that should get none. */
  origin: Type.Object({
    requests: Type.Number(),
    failed: Type.Number(),
    slow: Type.Number(),
    stray: Type.Number(),
  }),
  soak: orNull(SoakFigures),
  /** Losses and unexpected data. Empty if there were none. */
  failures: Type.Array(Type.String()),
  /** Reasons why the trial is not valid although nothing was lost, such as a load that was not held. */
  invalid: Type.Array(Type.String()),
})
export type Trial = Static<typeof Trial>

/** Verdict on a trial. */
export type Verdict = 'passed' | 'failed' | 'invalid'

/** Returns the verdict of a trial. A loss counts whatever the load was. */
export function verdictOf({ failures, invalid }: Trial): Verdict {
  if (failures.length > 0) return 'failed'
  return invalid.length > 0 ? 'invalid' : 'passed'
}

/** Returns the reasons why a trial was not passed. Empty if it was. */
export function reasonsOf({ failures, invalid }: Trial): readonly string[] {
  return failures.length > 0 ? failures : invalid
}
