import type { TrialPlan } from './trial.js'

/** The size of a gateway, as the reference report counts it: cores of the workers and memory of the pod. */
export type Tier = 'W1' | 'W2' | 'W4' | 'W8'

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

/** A body that is made anew for every run, the same bytes each time. */
export interface MadeBody {
  readonly kind: 'text' | 'json' | 'xml'
  readonly bytes: number
}

/** A body that somebody wrote. */
export interface GivenBody {
  readonly kind: 'given'
  readonly bytes: number
  readonly base64: string
}

/** What stands behind the gateway: it reads the whole request and answers after `delayMs` with so many bytes, or with the body it got. */
export interface OriginWish {
  readonly answer: 'fixed' | 'echo'
  readonly bytes: number
  readonly delayMs: number
}

/** Where the traffic log goes while it is measured. */
export type LogWish = 'none' | 'elasticsearch'

/** One row of a suite: what is asked of whom, in which configuration. The rest of a document is the same for all. */
export interface Scenario {
  /** Unique within its suite: lower-case words joined by `-`. It is the key of points, comparisons and references. */
  readonly id: string
  /** For people, at most 40 characters. */
  readonly title: string
  /** Null: the machine as it is, with `workers`. */
  readonly tier: Tier | null
  readonly workers: number
  readonly log: LogWish
  readonly call: Call
  readonly origin: OriginWish
  /** The `routes` of the gateway's document; their upstream is named `origin`. YAML-compatible values. */
  readonly routes: readonly object[]
  /** Whether peers can be configured to do the same; null names why they cannot. */
  readonly peers: 'plain-proxy' | null
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
