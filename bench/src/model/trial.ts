import type { ErrorClass } from './engine.js'
import type { LogWish } from './scenario.js'

/** What is asked of a system under load: whether anything is lost while something is done to it. */
export interface TrialPlan {
  /** Unique within its suite: lower-case words joined by `-`. */
  readonly id: string
  /** For people, at most 40 characters. */
  readonly title: string
  /** What is done, in one sentence. */
  readonly action: string
  readonly workers: number
  /** Where the traffic log goes; the records are counted there. */
  readonly log: LogWish
  /** Whether there is no such trial without an Elasticsearch. */
  readonly needsSearchEngine: boolean
  readonly connections: number
}

/** A part of a trial. */
export interface TrialPhase {
  readonly name: 'before' | 'during' | 'after'
  readonly seconds: number
  readonly requests: number
  /** Requests that were sent in it, whether or not they were answered; absent: they were not counted. */
  readonly sent?: number
  /** Requests without an answer, and answers other than 200. */
  readonly failed: number
  /** From when a request was due, so that waiting for a late answer counts for those behind it; null: none was answered. */
  readonly p50Micros: number | null
  readonly p99Micros: number | null
}

/** Where the records of all requests are in the end. */
export interface TrialLog {
  readonly documents: number
  /** Refused for good and kept. */
  readonly dead: number
  /** Lost, as the log itself says. */
  readonly dropped: number
  /** Documents of a request that has one already. */
  readonly repeated: number
  /** Answered requests without a record anywhere; below 0: records without a request. */
  readonly missing: number
}

/** What was lost of the requests that had nothing to do with what was done. */
export interface TrialAside {
  /** Requests that ended without an answer, or were not sent. */
  readonly unanswered: number
  /** Requests that ended without an answer on a connection that was open when they came, and were sent once more. */
  readonly cutOff: number
  /** Those that were answered and have no document; below 0: documents without a request. */
  readonly missing: number
}

/** What the origins saw. */
export interface TrialOrigin {
  readonly requests: number
  /** Requests that they answered with 500, as they were told. */
  readonly failed: number
  /** Requests that they answered late, as they were told. */
  readonly slow: number
  /** Requests to a place that nobody should ask any more. */
  readonly stray: number
}

/** The heaps of all workers together, by least squares over the samples behind the warm-up. */
export interface HeapSlope {
  readonly bytes: number
  readonly bytesPerHour: number
  /** The standard error of it. */
  readonly bytesPerHourError: number
}

/** What became of memory and files over a long load. */
export interface SoakFigures {
  readonly reloads: number
  readonly failedReloads: number
  readonly samples: number
  /** Between the first and the last sample of the slope. */
  readonly spanSeconds: number
  /** Null: there were too few samples. */
  readonly heap: HeapSlope | null
  /** At the beginning and at the end of the samples, of the process tree. */
  readonly rssBytes: readonly [number, number]
  readonly files: readonly [number, number]
}

/** What a trial saw, and whether it was passed. */
export interface Trial {
  readonly id: string
  readonly title: string
  readonly action: string
  readonly startedAt: string
  readonly workers: number
  readonly connections: number
  /** The load: so many requests were due a second, whether or not answers came. */
  readonly targetPerSecond: number
  /** What went through at saturation, of which the load is a share. */
  readonly saturationPerSecond: number
  /** When something was done, in seconds from the beginning of the load, its warm-up included. */
  readonly actedFromSeconds: number
  readonly actedToSeconds: number
  /** All that were sent, those of the warm-up included; one that was sent again is one. */
  readonly requests: number
  /** Sent once more because their kept connection had ended without a byte of an answer. */
  readonly sentAgain: number
  /** Of these, those that came to a connection which the server had closed before; absent: it was not looked at. */
  readonly crossed?: number
  readonly errors: Readonly<Record<ErrorClass, number>>
  /** Answers by the first digit of their status, such as `2xx`. */
  readonly answers: Readonly<Record<string, number>>
  /** Answers by their whole status, such as `200`; absent: they were not counted. */
  readonly statuses?: Readonly<Record<string, number>>
  /** Answers of status 200 whose body is another one than the origin sends; absent: it was not looked at. */
  readonly wrongBodies?: number
  /** How often bytes came that no request had asked for, such as a second answer; absent: it was not looked at. */
  readonly unasked?: number
  /** Answers of 500 and above that the gateway gave by itself, and those that came from the upstream. */
  readonly gatewayErrors: number
  readonly upstreamErrors: number
  readonly phases: readonly TrialPhase[]
  /** From the end of what was done until clients noticed nothing more of it; null: they did to the end of the trial. */
  readonly recoveredSeconds: number | null
  /** From the end of the load until all records were delivered; null: there is no log, or they were not in time. */
  readonly deliveredSeconds: number | null
  /** Null: there is no traffic log. */
  readonly log: TrialLog | null
  /** Workers that serve in the end and did not in the beginning. */
  readonly newWorkers: number
  /** Absent: nothing may be lost at any time, or it may be so at any time. */
  readonly aside?: TrialAside
  readonly origin: TrialOrigin
  readonly soak?: SoakFigures
  /** What was lost, or came that nobody had sent; empty: nothing. */
  readonly failures: readonly string[]
  /** Why it is no result where nothing was lost, such as a load that was not held; empty or absent: it is one. */
  readonly invalid?: readonly string[]
}
