import type { Engine } from '../model/engine.js'
import type { RunObserver, RunOptions } from '../model/run.js'
import type { Scenario } from '../model/scenario.js'
import type { LogNode } from '../servers/elasticsearch.js'
import type { Setup } from './setup.js'

/** Shared parts of a run. */
export interface RunContext {
  readonly options: RunOptions
  readonly observer: RunObserver
  readonly engines: RunEngines
  /** Folder for files of servers and load generators. */
  readonly dir: string
  readonly random: () => number
  /** Versions of all programs, filled as they start. */
  readonly versions: Record<string, string>
  /** Digests of the gateways' documents, by scenario. */
  readonly documents: Record<string, string>
  /** Elasticsearch node, or null if none is needed or available. */
  readonly logNode: LogNode | null
  /** Starts a scenario on other machines, or null for this one. */
  readonly openRemotely: ((scenario: Scenario) => Promise<Setup>) | null
  warn(text: string): void
}

/** Load generators of a run, often the same. */
export interface RunEngines {
  readonly saturation: Engine
  readonly rate: Engine
}

/** Reports the steps of a run and estimates the remaining time from the previous steps. */
export class Progress {
  readonly #observer: RunObserver
  readonly #startedMono = performance.now()
  #total: number
  #done = 0

  constructor(observer: RunObserver, total: number) {
    this.#observer = observer
    this.#total = total
  }

  begin(what: string): void {
    const elapsedS = (performance.now() - this.#startedMono) / 1000
    const remaining = this.#done === 0 ? 0 : (elapsedS / this.#done) * (this.#total - this.#done)
    this.#observer.onStep(this.#done, this.#total, what, Math.round(remaining))
    this.#done++
  }

  add(steps: number): void {
    this.#total = Math.max(this.#done, this.#total + steps)
  }
}
