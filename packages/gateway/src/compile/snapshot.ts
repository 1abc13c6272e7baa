import { readFileSync } from 'node:fs'
import type { ConfigBundle, Plan } from '@sluice/config'
import { type Catalog, Slices, type StateStore } from '@sluice/core'
import type { Lease, PipelineContext } from '../flow/context.js'
import { placeholderRoute } from '../flow/placeholder-route.js'
import { Refreshes } from '../flow/refreshes.js'
import type { Route } from '../flow/route.js'
import { type Closer, type SharedTable, unwind } from '../lib/shared-table.js'
import type { ThreadPool } from '../lib/threads/thread-pool.js'
import { buildRouter, type Router } from '../route/router.js'
import { cacheOf } from '../state/server-cache.js'
import { storesOf } from '../state/stores.js'
import type { Network } from '../upstream/transport/network.js'
import type { Upstream } from '../upstream/upstream.js'
import { bodyExaminer, type Examine } from './body-examiner.js'
import { SnapshotEnv } from './compile-env.js'
import { CompiledRoutes, type Surroundings } from './compiled-routes.js'
import { compileUnknownLog } from './route-log.js'
import { compileUpstreams } from './upstreams.js'

interface SnapshotOptions {
  readonly catalog: Catalog
  readonly shared: SharedTable
  readonly threads: ThreadPool
  /** State store shared by all workers of the gateway. */
  readonly memory: StateStore
  /** Secret shared by all workers, see StateStores; defaults to none. */
  readonly secret?: Uint8Array | undefined
  readonly context: PipelineContext
  readonly network: Network
  /** Values of the plan's references. */
  readonly values?: ConfigBundle['values']
  /** Active snapshot, whose unchanged compiled routes are reused. Default: null. */
  readonly last?: Snapshot | null
}

/**
 * A plan compiled to functions, used by a worker to serve requests. It is immutable. Requests keep the
 * snapshot they started with.
 */
export class Snapshot implements Lease {
  readonly plan: Plan
  readonly digest: string
  readonly router: Router<Route>
  /** Placeholder route for requests without one. */
  readonly placeholderRoute: Route
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** Evaluates the router's queries on a large body. Null if routes have none. */
  readonly examine: Examine | null
  /** Compiled routes that the next snapshot can reuse. */
  readonly compiled: CompiledRoutes
  readonly #closers: Closer[]
  #uses = 1

  constructor(
    parts: Pick<
      Snapshot,
      'plan' | 'digest' | 'router' | 'placeholderRoute' | 'upstreams' | 'examine' | 'compiled'
    > & { readonly closers: Closer[] },
  ) {
    this.plan = parts.plan
    this.digest = parts.digest
    this.router = parts.router
    this.placeholderRoute = parts.placeholderRoute
    this.upstreams = parts.upstreams
    this.examine = parts.examine
    this.compiled = parts.compiled
    this.#closers = parts.closers
  }

  /** Ids of the routes that accept WebSockets. */
  get webSocketRoutes(): ReadonlySet<string> {
    return new Set(this.plan.routes.filter(({ websocket }) => websocket !== null).map(({ id }) => id))
  }

  /** Keeps the snapshot open for one more request. */
  use(): Lease {
    this.#uses++
    return this
  }

  /**
   * Releases one use. The worker and every request call it once; the last call closes what the snapshot
   * opened.
   */
  release(): void {
    // Policies that later snapshots reuse keep the array, so it must not keep this snapshot in memory.
    if (--this.#uses === 0) unwind(this.#closers.splice(0))
  }
}

/**
 * Compiles a plan with resolved references.
 * @throws Error naming what fails to compile; everything opened is closed again.
 */
export async function compileSnapshot(
  plan: Plan,
  digest: string,
  options: SnapshotOptions,
): Promise<Snapshot> {
  const closers: Closer[] = []
  try {
    const { catalog, shared, threads, network } = options
    const { clock, metrics, report } = options.context
    const slices = new Slices(options.last != null)
    const upstreams = await slices.run(compileUpstreams(plan, { ...options, clock, report }, closers))
    const state = await storesOf(plan.state, { ...options, closers, report })
    const cache = cacheOf(plan.cache, { ...options, closers, report, count: metrics.counter.bind(metrics) })
    const refreshes = new Refreshes(options.context)
    const surroundings = surroundingsOf(plan, options)
    const last = options.last?.compiled.isIn(surroundings) === true ? options.last.compiled : null
    const jobs = last?.jobs ?? { count: 0 }
    // Without the other options: reused policies keep it, and `last` would keep all earlier snapshots in memory.
    const kept = { catalog, shared, threads, network, state, cache, metrics, report }
    const env = new SnapshotEnv({ ...kept, closers, jobs })
    const compiled = new CompiledRoutes({ surroundings, upstreams, jobs, env, last })
    closers.push(() => compiled.steps.close())
    const { candidates, questions } = await compiled.compile(plan, { ...options, digest, refreshes, slices })
    const snapshot = new Snapshot({
      plan,
      digest,
      router: await slices.run(buildRouter(candidates)),
      placeholderRoute: placeholderRoute(options.context, compileUnknownLog(plan.log), digest),
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
  // Include the CA file's content: policies keep the cache client they were compiled with, whose connections
  // close when the CA changes.
  const caFile = plan.cache?.tls.caFile ?? null
  return { catalog, rest: JSON.stringify([rest, values, caFile && readFileSync(caFile, 'utf8')]) }
}
