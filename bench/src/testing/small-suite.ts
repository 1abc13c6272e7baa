import type { RunObserver, RunOptions } from '../model/run.js'
import type { Scenario, Suite } from '../model/scenario.js'
import type { Point } from '../model/summary.js'
import type { Trial } from '../model/trial.js'
import { get, scenario } from '../suite/scenario-parts.js'

/** One scenario of one worker: GET through a route without policies. */
export const PLAIN: Scenario = scenario('plain', 'W1 GET', get('/orders'), { tier: 'W1' })

export function suiteOf(scenario: Scenario, connections: readonly number[]): Suite {
  return {
    name: 'small',
    description: 'A test.',
    reproduces: null,
    cases: [{ scenario, connections }],
    warmUpSeconds: 0.1,
    seconds: 0.3,
    repetitions: 2,
  }
}

export function optionsOf(suite: Suite, changes: Partial<RunOptions> = {}): RunOptions {
  return {
    suite,
    ...{ engine: 'autocannon', saturationEngine: 'autocannon', peers: [], target: null },
    ...{ warmUpSeconds: 0.1, seconds: 0.3, repetitions: 2, coolDownSeconds: 0, rateShares: [] },
    ...{ isPinned: true, command: 'gw bench run small' },
    signal: new AbortController().signal,
    ...changes,
  }
}

/** Keeps what a run says. */
export class Notes implements RunObserver {
  readonly steps: string[] = []
  readonly totals: number[] = []
  readonly points: Point[] = []
  readonly trials: Trial[] = []
  readonly warnings: string[] = []
  readonly #stepped: (count: number) => void

  constructor(stepped: (count: number) => void = () => {}) {
    this.#stepped = stepped
  }

  onStep(_done: number, total: number, what: string): void {
    this.steps.push(what)
    this.totals.push(total)
    this.#stepped(this.steps.length)
  }

  onPoint(point: Point): void {
    this.points.push(point)
  }

  onTrial(trial: Trial): void {
    this.trials.push(trial)
  }

  onWarning(text: string): void {
    this.warnings.push(text)
  }
}
