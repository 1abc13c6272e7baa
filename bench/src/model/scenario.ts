import type { LogMode, Tier } from './summary.js'
import type { TrialPlan } from './trial.js'

/** Cores and memory of the tiers, as the reference report counts them. */
export const TIERS: readonly { readonly tier: Tier; readonly cores: number; readonly memoryBytes: number }[] =
  [
    { tier: 'W1', cores: 1, memoryBytes: 2 * 1024 ** 3 },
    { tier: 'W2', cores: 2, memoryBytes: 2 * 1024 ** 3 },
    { tier: 'W4', cores: 4, memoryBytes: 4 * 1024 ** 3 },
    { tier: 'W8', cores: 8, memoryBytes: 8 * 1024 ** 3 },
  ]

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof METHODS)[number]

/** One request, asked over and over. */
export interface Call {
  readonly method: Method
  /** Begins with `/`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Null: no body. */
  readonly body: CallBody | null
}

export type CallBody = MadeBody | GivenBody

/** A body that is made again for every run, the same bytes each time. */
export interface MadeBody {
  readonly kind: 'json' | 'xml'
  readonly bytes: number
}

/** A body that somebody wrote. */
export interface GivenBody {
  readonly kind: 'given'
  readonly bytes: number
  readonly base64: string
}

/** What stands behind the gateway: it reads the whole request and answers after `delayMs` with so many bytes, or with the body it got. */
export interface OriginBehavior {
  readonly answer: 'fixed' | 'echo'
  readonly bytes: number
  readonly delayMs: number
}

/** One row of a suite: what is asked of whom, in which configuration. The rest of a document is the same for all. */
export interface Scenario {
  /** Unique within its suite: lower-case words joined by `-`. It is the key of points, comparisons and references. */
  readonly id: string
  /** For people, at most 40 characters. */
  readonly title: string
  /** Null: the machine as it is, with `workers`. */
  readonly tier: Tier | null
  readonly workers: number
  readonly log: LogMode
  readonly call: Call
  readonly origin: OriginBehavior
  /** The `routes` of the gateway's document; their upstream is named `origin`. YAML-compatible values. */
  readonly routes: readonly object[]
  /** Asked in place of a gateway; absent: a gateway is. */
  readonly system?: 'cache-server'
  /** Whether any reverse proxy can be configured to do the same, so that peers are measured beside it. */
  readonly isPlainProxy: boolean
}

/** A scenario with the numbers of connections that it is measured with. */
export interface SuiteCase {
  readonly scenario: Scenario
  readonly connections: readonly number[]
}

/** A list of scenarios with the numbers of connections that each is measured with. */
export interface Suite {
  readonly name: string
  /** One sentence. */
  readonly description: string
  /** The published report whose set-up it repeats; null: none. */
  readonly reproduces: string | null
  readonly cases: readonly SuiteCase[]
  /** More of the kind, measured only when they are asked for by name; absent: none. */
  readonly variants?: readonly SuiteCase[]
  /** In place of cases: what is done to a gateway under load; absent: its cases are measured. */
  readonly trials?: readonly TrialPlan[]
  /** Of a full run; `--quick` and the options of the command change them. */
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly repetitions: number
}
