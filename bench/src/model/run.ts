import type { Engine } from './engine.js'
import type { Suite } from './scenario.js'
import type { Point, Summary } from './summary.js'
import type { Trial } from './trial.js'

export const PEERS = ['nginx', 'haproxy', 'envoy'] as const
export type PeerName = (typeof PEERS)[number]

/** A server that somebody else has started. */
export interface Target {
  /** Scheme, host and port. */
  readonly origin: string
  /** The first of its processes, on this machine; null: what CPU time it uses is not known. */
  readonly pid: number | null
}

/** What a run of a suite is told. */
export interface RunOptions {
  readonly suite: Suite
  readonly engine: Engine['name']
  /** Loads in its place where contestants do as much as they can; absent: it does so itself. */
  readonly saturationEngine?: Engine['name']
  readonly peers: readonly PeerName[]
  /** Is loaded in place of a gateway of our own; absent: one is started. */
  readonly target?: Target
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly repetitions: number
  /** Nothing is loaded for so long behind each group of points; absent: no pause. */
  readonly coolDownSeconds?: number
  /** Rates of the second kind of points as shares of the measured saturation, such as 0.5 and 0.9; empty: none. */
  readonly rateShares: readonly number[]
  /** The highest rate with a P99 below this is searched for; null: it is not. */
  readonly sloMicros: number | null
  /** Only these scenarios; empty: all. */
  readonly scenarios: readonly string[]
  /** Only these numbers of connections; empty: all. */
  readonly connections: readonly number[]
  /** Whether gateway, generator and origin get cores of their own. */
  readonly isPinned: boolean
  /** Whether contestants get the memory of their tier and no more, where the system lets us. */
  readonly isMemoryLimited: boolean
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
  onWarning(text: string): void
  /** Absent: nobody hears of them before the end. */
  onTrial?(trial: Trial): void
}

/** Runs a suite. @throws Error when a contestant or engine cannot be started at all. */
export type RunSuite = (options: RunOptions, observer: RunObserver) => Promise<Summary>
