import type { EngineName, RequestSample } from './engine.js'
import type { Suite } from './scenario.js'
import type { Point } from './summary.js'
import type { Trial } from './trial.js'

/** Reverse proxies that can be measured beside the gateway. */
export const PEERS = ['nginx', 'haproxy', 'envoy'] as const
export type PeerName = (typeof PEERS)[number]

/** Systems under test that are not peers: the gateway of this repository, and a server that is already running. */
export const OURS = 'sluice'
export const TARGET = 'target'

/** A server that is already running. */
export interface Target {
  /** Scheme, host and port. */
  readonly origin: string
  /** First local process of the server, or null if its CPU time is unknown. */
  readonly pid: number | null
}

/** Parts of a run that agents can take over. */
export const AGENT_ROLES = ['generator', 'origin', 'gateway'] as const

/** Agents of a run: scheme, host and port of each role. */
export interface AgentAddresses extends Readonly<Record<(typeof AGENT_ROLES)[number], string>> {
  /** Bearer token, or null without one. */
  readonly token: string | null
}

/** Options for a run of a suite. */
export interface RunOptions {
  /** Suite with the selected cases and trials only. */
  readonly suite: Suite
  readonly engine: EngineName
  readonly saturationEngine: EngineName
  readonly peers: readonly PeerName[]
  /** Server to measure instead of our gateway, or null. */
  readonly target: Target | null
  /** Agents on whose hosts everything runs. Without them it runs on this machine. */
  readonly agents?: AgentAddresses | null
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly repetitions: number
  /** Pause after each group of points, in seconds. */
  readonly coolDownSeconds: number
  /** Rates as shares of the measured saturation, such as 0.5 and 0.9. Empty for none. */
  readonly rateShares: readonly number[]
  /** True if system, load generator and origin get separate cores. */
  readonly isPinned: boolean
  /** Command line, for the summary. */
  readonly command: string
  /** Aborted to stop after the current repetition. Results so far are kept. */
  readonly signal: AbortSignal
}

/** A load of which single requests were kept. The URL contains no secrets. */
export interface SampledLoad {
  readonly label: string
  readonly url: string
  readonly connections: number
}

/** Observer of a run. */
export interface RunObserver {
  /** Called when one of `total` steps starts, such as "W1 GET, 100 connections, nginx, 2 of 3". */
  onStep(done: number, total: number, what: string, remainingSeconds: number): void
  onPoint(point: Point): void
  onTrial(trial: Trial): void
  onWarning(text: string): void
  /** Called with a random sample of the requests of one load. If it is missing, no samples are taken. */
  onSamples?(load: SampledLoad, samples: readonly RequestSample[]): void
}
