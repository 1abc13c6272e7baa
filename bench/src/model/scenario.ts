import type { LogMode, Tier } from './summary.js'
import type { TrialPlan } from './trial.js'

/** Cores and memory of the tiers, as in the reference report. */
export const TIERS: readonly { readonly tier: Tier; readonly cores: number; readonly memoryBytes: number }[] =
  [
    { tier: 'W1', cores: 1, memoryBytes: 2 * 1024 ** 3 },
    { tier: 'W2', cores: 2, memoryBytes: 2 * 1024 ** 3 },
    { tier: 'W4', cores: 4, memoryBytes: 4 * 1024 ** 3 },
    { tier: 'W8', cores: 8, memoryBytes: 8 * 1024 ** 3 },
  ]

/** Methods of a measured request. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof METHODS)[number]

/** A request that is sent repeatedly. */
export interface Call {
  readonly method: Method
  /** Path, starting with `/`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Body, or null. */
  readonly body: CallBody | null
}

/** A generated or a given body. */
export type CallBody = GeneratedBody | GivenBody

/** A body that is generated for each run, always with the same bytes. */
export interface GeneratedBody {
  readonly kind: 'json' | 'xml'
  readonly bytes: number
}

/** A body from the command line. */
export interface GivenBody {
  readonly kind: 'given'
  readonly bytes: number
  readonly base64: string
}

/**
 * Behaviour of the origin: it reads the whole request and responds after `delayMs` with a number of bytes, or with
 * the request body.
 */
export interface OriginBehavior {
  readonly answer: 'fixed' | 'echo'
  readonly bytes: number
  readonly delayMs: number
}

/** One row of a suite: a request, its system and configuration. */
export interface Scenario {
  /** Id, unique within the suite: lower-case words joined by `-`. Key of points, comparisons and references. */
  readonly id: string
  /** Title for people, at most 40 characters. */
  readonly title: string
  /** Tier, or null for the whole machine with `workers`. */
  readonly tier: Tier | null
  readonly workers: number
  readonly log: LogMode
  readonly call: Call
  readonly origin: OriginBehavior
  /** `routes` of the gateway's document, as YAML-compatible values. Their upstream is `origin`. */
  readonly routes: readonly object[]
  /** System to measure instead of a gateway. */
  readonly system?: 'cache-server'
  /** True if any reverse proxy can be configured the same way, so that peers are measured too. */
  readonly isPlainProxy: boolean
  /** True if peers cache all responses. */
  readonly isCached?: boolean
  /** Engine of the gateway's listener; default `uws`. */
  readonly engine?: 'node'
}

/** A scenario with its numbers of connections. */
export interface SuiteCase {
  readonly scenario: Scenario
  /** The same request without the policy. If set, both are measured in pairs, with new processes for each pair. */
  readonly base?: Scenario
  readonly connections: readonly number[]
}

/** A list of scenarios with their numbers of connections. */
export interface Suite {
  readonly name: string
  readonly description: string
  /** Published report that the suite repeats, or null. */
  readonly reproduces: string | null
  readonly cases: readonly SuiteCase[]
  /** Further cases that are measured only if named. */
  readonly variants?: readonly SuiteCase[]
  /** Trials, which inject faults under load. If set, no cases are measured. */
  readonly trials?: readonly TrialPlan[]
  /** Warm-up of a full run, in seconds. `--quick` and other options change it. */
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly repetitions: number
}
