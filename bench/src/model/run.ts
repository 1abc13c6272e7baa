import type { EngineName } from './engine.js'
import type { Suite } from './scenario.js'
import type { Point } from './summary.js'
import type { Trial } from './trial.js'

export const PEERS = ['nginx', 'haproxy', 'envoy'] as const
export type PeerName = (typeof PEERS)[number]

/** The systems under test that are no peers: the gateway of this repository, and a server that somebody else has started. */
export const OURS = 'sluice'
export const TARGET = 'target'

/** A server that somebody else has started. */
export interface Target {
  /** Scheme, host and port. */
  readonly origin: string
  /** The first of its processes, on this machine; null: what CPU time it uses is not known. */
  readonly pid: number | null
}

/** The options of a run of a suite. */
export interface RunOptions {
  /** Only the cases and trials that are to be measured. */
  readonly suite: Suite
  /** Holds the rates. */
  readonly engine: EngineName
  /** Asks for as much as systems can do. */
  readonly saturationEngine: EngineName
  readonly peers: readonly PeerName[]
  /** Is loaded in place of a gateway of our own; null: one is started. */
  readonly target: Target | null
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly repetitions: number
  /** Nothing is loaded for so long after each group of points. */
  readonly coolDownSeconds: number
  /** Rates as shares of the measured saturation, such as 0.5 and 0.9; empty: none. */
  readonly rateShares: readonly number[]
  /** Whether system, load generator and origin get cores of their own. */
  readonly isPinned: boolean
  /** The command line, for the summary. */
  readonly command: string
  /** Stops after the repetition under way; what was measured is kept. */
  readonly signal: AbortSignal
}

/** Hears of a run while it goes on. */
export interface RunObserver {
  /** One step of `total` begins, such as "W1 GET, 100 connections, nginx, 2 of 3". */
  onStep(done: number, total: number, what: string, remainingSeconds: number): void
  onPoint(point: Point): void
  onTrial(trial: Trial): void
  onWarning(text: string): void
}
