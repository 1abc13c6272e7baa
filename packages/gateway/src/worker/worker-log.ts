import { hostname } from 'node:os'
import type { ConfigBundle, Plan } from '@sluice/config'
import { conceal, spoolDir } from '@sluice/config/serving'
import type { Catalog, LogIdentity, LogSink } from '@sluice/core'
import { FormerSpoolWatch, noneSink } from '@sluice/logger'
import { openSink, spoolDirs } from './open-sink.js'
import { SwitchedSink } from './switched-sink.js'

/** What the log of a worker needs to know of it. */
export interface WorkerLogOptions {
  readonly worker: number
  readonly version: string
  readonly report: (event: string, fields: object) => void
  /** Of the configuration that serves. */
  readonly digest: () => string
}

/** Longest time a log sink may take to write out what it holds. */
const CLOSE_MS = 5000

/** A bundle as its log sees it. */
export interface LoggedBundle {
  readonly plan: Plan
  readonly values: ConfigBundle['values']
  /** With the policies of plugins. */
  readonly catalog: Catalog
}

/** The traffic log of a worker; a bundle that asks for another one exchanges its sink. */
export class WorkerLog {
  readonly #options: WorkerLogOptions
  readonly #sink = new SwitchedSink(noneSink)
  readonly #formerSpools = new FormerSpoolWatch()
  #key = ''

  constructor(options: WorkerLogOptions) {
    this.#options = options
  }

  /** Takes the records, whichever sink is at work. */
  get sink(): LogSink {
    return this.#sink
  }

  identity(): LogIdentity {
    return this.#sink.identity()
  }

  /** The sink of a plan when it differs from the one at work; null: keep that. @throws Error when it cannot be opened. */
  open(bundle: LoggedBundle): LogSink | null {
    if (keyOf(bundle) === this.#key) return null
    const { plan, values, catalog } = bundle
    const { worker, version, digest } = this.#options
    const sink = openSink(plan, {
      environment: plan.environment,
      worker,
      writers: plan.workers ?? 1,
      sensitiveNames: secretNames(plan, catalog),
      node: hostname(),
      version,
      configDigest: digest,
      onProblem: (message: string) => this.#reportProblem(message, values),
    })
    this.#sink.prepare(sink)
    return sink
  }

  /**
   * Records go to what was opened for a plan from now on. Once the sink before has let go of its spools, one worker looks
   * for those that no target has any more.
   */
  switchTo(sink: LogSink, bundle: LoggedBundle): void {
    const { plan, values } = bundle
    const key = keyOf(bundle)
    this.#key = key
    const switched = this.#sink.switchTo(sink, CLOSE_MS)
    if (this.#options.worker !== 1) return
    void switched.then(() => {
      // Another bundle may have been faster.
      if (this.#key !== key) return
      const places = { usual: spoolDir(undefined, ''), used: spoolDirs(plan.log) }
      this.#formerSpools.look(places, (message) => this.#reportProblem(message, values))
    })
  }

  /** Closes what was opened for a plan that does not come into service. */
  discard(sink: LogSink): void {
    void this.#sink.discard(sink, 0)
  }

  close(): Promise<void> {
    this.#formerSpools.close()
    return this.#sink.close(CLOSE_MS)
  }

  /** Errors of the file system name paths, which may come from references. */
  #reportProblem(message: string, values: ConfigBundle['values']): void {
    this.#options.report('log_problem', { message: conceal(message, values) })
  }
}

/** A sink serves as long as this stays the same. */
function keyOf({ plan, catalog }: LoggedBundle): string {
  return JSON.stringify([plan.log, plan.environment, plan.workers, secretNames(plan, catalog)])
}

/** The names that the plan's policies declare as secret, each once, in order. */
function secretNames(plan: Plan, catalog: Catalog): readonly string[] {
  const uses = plan.routes.flatMap((route) => route.policies)
  const names = uses.flatMap((use) => catalog.get(use.use)?.secretNames?.(use.with as never) ?? [])
  return [...new Set(names)].sort()
}
