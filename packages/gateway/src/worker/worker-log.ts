import { hostname } from 'node:os'
import type { ConfigBundle, Plan } from '@sluice/config'
import { conceal, spoolDir } from '@sluice/config/serving'
import type { Catalog, LogIdentity, LogSink } from '@sluice/core'
import { FormerSpoolWatch, MessageMask, noneSink } from '@sluice/logger'
import { openSink, spoolDirs } from './open-sink.js'
import type { StepMask } from './step-trace.js'
import type { ServedConfiguration } from './step-tracer.js'
import { SwappableSink } from './swappable-sink.js'

interface WorkerLogOptions {
  readonly worker: number
  readonly version: string
  readonly report: (event: string, fields: object) => void
  readonly digest: () => string
}

/** Longest time in milliseconds for a log sink to write out its records. */
const CLOSE_MS = 5000
/**
 * Time in milliseconds after which the thread of a replaced sink is given up. On a busy machine, a thread that is
 * still loading a client library may react after many seconds, and its records would be lost without need.
 */
const PATIENCE_MS = 60_000

/** The parts of a bundle that its log depends on. */
export interface LoggedBundle {
  readonly plan: Plan
  readonly values: ConfigBundle['values']
  /** Catalog including plugin policies. */
  readonly catalog: Catalog
}

/** The traffic log of a worker. Its sink is replaced when a bundle configures another one. */
export class WorkerLog {
  readonly #options: WorkerLogOptions
  readonly #sink = new SwappableSink(noneSink)
  readonly #formerSpools = new FormerSpoolWatch()
  #key = ''
  /** Returns the active configuration for step traces. The mask is created when it is needed. */
  served: () => ServedConfiguration = () => {
    throw new Error('no configuration is active yet')
  }

  constructor(options: WorkerLogOptions) {
    this.#options = options
  }

  /** Sink for records, whichever is active. */
  get sink(): LogSink {
    return this.#sink
  }

  identity(): LogIdentity {
    return this.#sink.identity()
  }

  /**
   * Opens the sink of a plan if it differs from the active one; otherwise returns null.
   * @throws Error if it cannot be opened.
   */
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

  /** Activates a bundle, with a new sink unless that is null. */
  activate(bundle: LoggedBundle, sink: LogSink | null): void {
    this.served = servedBy(bundle)
    if (sink !== null) this.switchTo(sink, bundle)
  }

  /**
   * Activates a sink. Once the previous sink has released its spools, one worker looks for spools that no
   * target uses any more.
   */
  switchTo(sink: LogSink, bundle: LoggedBundle): void {
    const { plan, values } = bundle
    const key = keyOf(bundle)
    this.#key = key
    const switched = this.#sink.switchTo(sink, CLOSE_MS, PATIENCE_MS)
    if (this.#options.worker !== 1) return
    void switched.then(() => {
      // Another bundle may have been activated meanwhile.
      if (this.#key !== key) return
      const places = { usual: spoolDir(undefined, ''), used: spoolDirs(plan.log) }
      this.#formerSpools.look(places, (message) => this.#reportProblem(message, values))
    })
  }

  /** Closes the sink of a plan that is not activated. */
  discard(sink: LogSink): void {
    void this.#sink.discard(sink, 0)
  }

  close(): Promise<void> {
    this.#formerSpools.close()
    return this.#sink.close(CLOSE_MS)
  }

  /**
   * Reports a problem. File system errors contain paths, which may come from references, so values are
   * masked.
   */
  #reportProblem(message: string, values: ConfigBundle['values']): void {
    this.#options.report('log_problem', { message: conceal(message, values) })
  }
}

function servedBy(bundle: LoggedBundle): () => ServedConfiguration {
  let served: ServedConfiguration | null = null
  return () => {
    served ??= { plan: bundle.plan, mask: maskOf(bundle) }
    return served
  }
}

/** Returns the mask for what the log of a bundle would mask. Values of references are hidden too. */
function maskOf({ plan, values, catalog }: LoggedBundle): StepMask {
  const mask = new MessageMask(secretNames(plan, catalog), plan.log.privacy)
  const hidden = (text: string): string => conceal(text, values)
  return {
    header: (name, value) => hidden(mask.header(name, value)),
    query: (query) => hidden(mask.query(query)),
    variable: (name, value) => hidden(mask.variable(name, value)),
    body: (part) => {
      const text = mask.body(part)
      return text === null ? null : hidden(text)
    },
  }
}

/** Returns the identity of a log. A sink stays in use while this is unchanged. */
function keyOf({ plan, catalog }: LoggedBundle): string {
  return JSON.stringify([plan.log, plan.environment, plan.workers, secretNames(plan, catalog)])
}

/** Returns the sorted, unique names that the plan's policies declare as secret. */
function secretNames(plan: Plan, catalog: Catalog): readonly string[] {
  const names = new Set<string>()
  for (const { policies } of plan.routes) {
    for (const use of policies)
      for (const name of catalog.get(use.use)?.secretNames?.(use.with as never) ?? []) names.add(name)
  }
  return [...names].sort()
}
