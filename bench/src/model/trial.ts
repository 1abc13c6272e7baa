import { type Static, type TSchema, Type } from '@sinclair/typebox'

const orNull = <T extends TSchema>(schema: T) => Type.Union([Type.Null(), schema])
const Counts = Type.Record(Type.String(), Type.Number())
const FromTo = Type.Tuple([Type.Number(), Type.Number()])

/** What is asked of a system under load: whether anything is lost while a fault is injected. */
export interface TrialPlan {
  /** Unique within its suite: lower-case words joined by `-`. */
  readonly id: string
  /** For people, at most 40 characters. */
  readonly title: string
  /** What is done, in one sentence. */
  readonly action: string
  readonly workers: number
  /** Where the traffic log goes; the records are counted there. */
  readonly log: 'none' | 'elasticsearch'
  /** Whether there is no such trial without an Elasticsearch. */
  readonly needsElasticsearch: boolean
  readonly connections: number
}

/** A part of a trial. */
export const TrialPhase = Type.Object({
  name: Type.Union([Type.Literal('before'), Type.Literal('during'), Type.Literal('after')]),
  seconds: Type.Number(),
  sent: Type.Number(),
  answered: Type.Number(),
  /** Requests without an answer, and answers other than 200. */
  failed: Type.Number(),
  /** From when a request was due, so that waiting for a late answer counts for those after it. */
  p50Micros: orNull(Type.Number()),
  p99Micros: orNull(Type.Number()),
})
export type TrialPhase = Static<typeof TrialPhase>

/** Memory and files over a long load. */
const SoakFigures = Type.Object({
  reloads: Type.Number(),
  failedReloads: Type.Number(),
  samples: Type.Number(),
  /** Between the first and the last sample. */
  spanSeconds: Type.Number(),
  /** The heaps of all workers by least squares, with the standard error. */
  heap: orNull(
    Type.Object({ bytes: Type.Number(), bytesPerHour: Type.Number(), errorPerHour: Type.Number() }),
  ),
  rssBytes: FromTo,
  files: FromTo,
})
export type SoakFigures = Static<typeof SoakFigures>

/** What a trial saw, and whether it was passed. */
export const Trial = Type.Object({
  id: Type.String(),
  title: Type.String(),
  action: Type.String(),
  workers: Type.Number(),
  connections: Type.Number(),
  /** The load: so many requests were due a second, whether or not answers came. */
  targetPerSecond: Type.Number(),
  /** What went through at saturation, of which the load is a share. */
  saturationPerSecond: Type.Number(),
  /** All that were sent; one that was sent again is one. */
  requests: Type.Number(),
  /** Sent once more because their kept connection had ended without a byte of an answer. */
  sentAgain: Type.Number(),
  /** Requests without an answer, by what happened. */
  lost: Type.Object({
    connect: Type.Number(),
    reset: Type.Number(),
    timeout: Type.Number(),
    unsent: Type.Number(),
  }),
  /** Answers by their status. */
  statuses: Counts,
  /** Answers of status 200 whose body is another one than the origin sends. */
  wrongBodies: Type.Number(),
  /** How often bytes came that no request had asked for, such as a second answer. */
  unasked: Type.Number(),
  /** Answers of 500 and above that the gateway gave by itself, and those that came from the upstream. */
  gatewayErrors: Type.Number(),
  upstreamErrors: Type.Number(),
  phases: Type.Array(TrialPhase),
  /** From the end of the load until all records were delivered. */
  deliveredSeconds: orNull(Type.Number()),
  /** Where the records of all requests are in the end; null: there is no traffic log. */
  log: orNull(
    Type.Object({
      documents: Type.Number(),
      /** Refused for good and kept. */
      dead: Type.Number(),
      /** Lost, as the log itself says. */
      dropped: Type.Number(),
      /** Documents of a request that has one already. */
      repeated: Type.Number(),
      /** Answered requests without a record anywhere; below 0: records without a request. */
      missing: Type.Number(),
    }),
  ),
  /** Workers that serve in the end and did not in the beginning. */
  newWorkers: Type.Number(),
  /** What the origins saw; `stray` went to an address that nobody should ask any more. */
  origin: Type.Object({
    requests: Type.Number(),
    failed: Type.Number(),
    slow: Type.Number(),
    stray: Type.Number(),
  }),
  soak: orNull(SoakFigures),
  /** What was lost, or came that nobody had sent; empty: nothing. */
  failures: Type.Array(Type.String()),
  /** Why it is no result where nothing was lost, such as a load that was not held. */
  invalid: Type.Array(Type.String()),
})
export type Trial = Static<typeof Trial>

export type Verdict = 'passed' | 'failed' | 'no result'

/** What is lost is lost, whatever the load was. */
export function verdictOf({ failures, invalid }: Trial): Verdict {
  if (failures.length > 0) return 'failed'
  return invalid.length > 0 ? 'no result' : 'passed'
}

/** Why it was not passed; empty: it was. */
export function reasonsOf({ failures, invalid }: Trial): readonly string[] {
  return failures.length > 0 ? failures : invalid
}
