import { readFileSync } from 'node:fs'
import type { ConfigBundle, Plan } from '@sluice/config'
import type { Catalog, StateStore } from '@sluice/core'
import type { ThreadPool } from '../data-plane/lib/threads/thread-pool.js'
import type { Lease, PipelineContext } from '../data-plane/pipeline/context.js'
import { nowhere } from '../data-plane/pipeline/nowhere.js'
import { Refreshes } from '../data-plane/pipeline/refreshes.js'
import type { Route } from '../data-plane/pipeline/route.js'
import { buildRouter, type Router } from '../data-plane/router/router.js'
import type { Network } from '../data-plane/upstream/network.js'
import type { Upstream } from '../data-plane/upstream/upstream.js'
import { cacheOf } from '../state/server-cache.js'
import { storesOf } from '../state/stores.js'
import { bodyExaminer, type Examine } from './body-examiner.js'
import { SnapshotEnv } from './compile-env.js'
import { CompiledRoutes, type Surroundings } from './compiled-routes.js'
import { compileUnknownLog } from './route-log.js'
import { type Closer, type SharedTable, unwind } from './shared-table.js'
import { Slices } from './slices.js'
import { compileUpstreams } from './upstreams.js'

export interface SnapshotOptions {
  readonly catalog: Catalog
  readonly shared: SharedTable
  readonly threads: ThreadPool
  /** What all workers of the gateway share. */
  readonly memory: StateStore
  /** Which they all have, see StateStores; default: none does. */
  readonly secret?: Uint8Array | undefined
  readonly context: PipelineContext
  readonly network: Network
  /** The values behind the plan. */
  readonly values?: ConfigBundle['values']
  /** Active snapshot, whose unchanged compiled routes are reused. Default: null. */
  readonly last?: Snapshot | null
}

/** A plan compiled to functions: what a worker serves with. Never changes; requests keep the one they began with. */
export class Snapshot implements Lease {
  readonly plan: Plan
  readonly digest: string
  readonly router: Router<Route>
  /** Stands for the route of requests that have none. */
  readonly nowhere: Route
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** Asks a large body what the router will ask of it; null when it asks nothing. */
  readonly examine: Examine | null
  /** Compiled routes that the next snapshot can reuse. */
  readonly compiled: CompiledRoutes
  readonly #closers: readonly Closer[]
  #uses = 1

  constructor(parts: {
    readonly plan: Plan
    readonly digest: string
    readonly router: Router<Route>
    readonly nowhere: Route
    readonly upstreams: ReadonlyMap<string, Upstream>
    readonly examine: Examine | null
    readonly compiled: CompiledRoutes
    readonly closers: readonly Closer[]
  }) {
    this.plan = parts.plan
    this.digest = parts.digest
    this.router = parts.router
    this.nowhere = parts.nowhere
    this.upstreams = parts.upstreams
    this.examine = parts.examine
    this.compiled = parts.compiled
    this.#closers = parts.closers
  }

  /** The ids of the routes that take WebSockets. */
  get webSocketRoutes(): ReadonlySet<string> {
    return new Set(this.plan.routes.filter(({ websocket }) => websocket !== null).map(({ id }) => id))
  }

  /** Keeps the snapshot open for one more request. */
  use(): Lease {
    this.#uses++
    return this
  }

  /** The worker and every request release once; after the last, what the snapshot opened is closed. */
  release(): void {
    if (--this.#uses === 0) unwind(this.#closers)
  }
}

/**
 * Compiles a plan whose references are resolved.
 * @throws Error naming what does not compile; whatever had been opened is closed again.
 */
export async function compileSnapshot(
  plan: Plan,
  digest: string,
  options: SnapshotOptions,
): Promise<Snapshot> {
  const closers: Closer[] = []
  try {
    const { clock, metrics, report } = options.context
    const slices = new Slices()
    const upstreams = await slices.run(compileUpstreams(plan, { ...options, clock, report }, closers))
    const state = await storesOf(plan.state, { ...options, closers, report })
    const cache = cacheOf(plan.cache, {
      ...options,
      closers,
      report,
      count: metrics.counter.bind(metrics),
    })
    const refreshes = new Refreshes(options.context)
    const surroundings = surroundingsOf(plan, options)
    const last = options.last?.compiled.isIn(surroundings) === true ? options.last.compiled : null
    const jobs = last?.jobs ?? { count: 0 }
    const env = new SnapshotEnv({ ...options, state, cache, metrics, closers, report, jobs })
    const compiled = new CompiledRoutes({ surroundings, upstreams, jobs, env, last })
    closers.push(() => compiled.steps.close())
    const { candidates, questions } = await compiled.compile(plan, { ...options, digest, refreshes, slices })
    const snapshot = new Snapshot({
      plan,
      digest,
      router: await slices.run(buildRouter(candidates)),
      nowhere: nowhere(options.context, compileUnknownLog(plan.log), digest),
      upstreams,
      examine: bodyExaminer(questions, options.catalog, env, 'route'),
      compiled,
      closers,
    })
    refreshes.owner = snapshot
    return snapshot
  } catch (error) {
    unwind(closers)
    throw error
  }
}

function surroundingsOf(plan: Plan, { catalog, values = {} }: SnapshotOptions): Surroundings {
  const { routes, upstreams, listeners, ...rest } = plan
  // Policies keep the cache that they were compiled with, whose connections close when their CA changes.
  const caFile = plan.cache?.tls.caFile ?? null
  return { catalog, rest: JSON.stringify([rest, values, caFile && readFileSync(caFile, 'utf8')]) }
}
