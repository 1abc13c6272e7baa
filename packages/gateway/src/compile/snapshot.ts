import type { Plan, RoutePlan } from '@sluice/config'
import { compileCondition, loadBodyLanguages } from '@sluice/config/serving'
import {
  type BodyQuestion,
  type Catalog,
  type CompileEnv,
  type StateStore,
  UnreadableBody,
} from '@sluice/core'
import type { ThreadPool } from '../data-plane/lib/threads/thread-pool.js'
import type { Lease, PipelineContext } from '../data-plane/pipeline/context.js'
import { nowhere } from '../data-plane/pipeline/nowhere.js'
import { Refreshes } from '../data-plane/pipeline/refreshes.js'
import { CRITICALITIES, type Route } from '../data-plane/pipeline/route.js'
import type { Candidate, Predicate } from '../data-plane/router/candidate.js'
import { compileRouter, type Router } from '../data-plane/router/router.js'
import type { Network } from '../data-plane/upstream/network.js'
import type { Upstream } from '../data-plane/upstream/upstream.js'
import { cacheOf } from '../state/server-cache.js'
import { storesOf } from '../state/stores.js'
import { compileAction } from './action.js'
import { bodyExaminer, type Examine } from './body-examiner.js'
import { ChainCompiler } from './chain.js'
import { answersPreflights } from './chain-order.js'
import { SnapshotEnv } from './compile-env.js'
import { compileRouteLog, compileUnknownLog } from './route-log.js'
import type { Closer, SharedTable } from './shared-table.js'
import { compileUpstreams } from './upstreams.js'

/**
 * How long routes are compiled before the event loop gets a turn: a large plan, or one with costly policies, must not
 * stall traffic, nor the sign of life without which a worker is taken for one that hangs.
 */
const SLICE_MS = 20

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
  readonly #closers: readonly Closer[]
  #uses = 1

  constructor(parts: {
    readonly plan: Plan
    readonly digest: string
    readonly router: Router<Route>
    readonly nowhere: Route
    readonly upstreams: ReadonlyMap<string, Upstream>
    readonly examine: Examine | null
    readonly closers: readonly Closer[]
  }) {
    this.plan = parts.plan
    this.digest = parts.digest
    this.router = parts.router
    this.nowhere = parts.nowhere
    this.upstreams = parts.upstreams
    this.examine = parts.examine
    this.#closers = parts.closers
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
    await loadBodyLanguages(JSON.stringify(plan.routes), options.catalog)
    const { clock, metrics, report } = options.context
    const upstreams = compileUpstreams(plan, { ...options, clock, report }, closers)
    const state = await storesOf(plan.state, { ...options, closers, report })
    const cache = cacheOf(plan.cache, {
      ...options,
      closers,
      report,
      count: metrics.counter.bind(metrics),
    })
    const refreshes = new Refreshes(options.context)
    const env = new SnapshotEnv({ ...options, state, cache, metrics, closers, report, refreshes })
    const questions: BodyQuestion[] = []
    const candidates = await compileRoutes(plan, upstreams, { ...options, digest, env, questions })
    const snapshot = new Snapshot({
      plan,
      digest,
      router: compileRouter(candidates),
      nowhere: nowhere(options.context, compileUnknownLog(plan.log), digest),
      upstreams,
      examine: bodyExaminer(questions, options.catalog, env, 'route'),
      closers,
    })
    refreshes.owner = snapshot
    return snapshot
  } catch (error) {
    unwind(closers)
    throw error
  }
}

interface RouteOptions extends SnapshotOptions {
  readonly digest: string
  readonly env: CompileEnv
  /** Receives what the conditions of routes ask bodies. */
  readonly questions: BodyQuestion[]
}

async function compileRoutes(
  plan: Plan,
  upstreams: ReadonlyMap<string, Upstream>,
  options: RouteOptions,
): Promise<Candidate<Route>[]> {
  const { catalog, context, env } = options
  const chains = new ChainCompiler(catalog, env, (policy, error) =>
    context.report('policy_ignored', { policy, error: String(error) }),
  )
  const candidates: Candidate<Route>[] = []
  let sliceMono = performance.now()
  for (const route of plan.routes) {
    if (performance.now() - sliceMono > SLICE_MS) {
      await nextTurn()
      sliceMono = performance.now()
    }
    const chain = await chains.compile(route.policies)
    const metrics = context.metrics.route(route.id)
    const action = compileAction(route, upstreams)
    const log = compileRouteLog(route, plan.log)
    const { id, api, match } = route
    const value = {
      id,
      configDigest: options.digest,
      api,
      template: match.path.text,
      log,
      chain,
      keepsEncodedSlashes: route.encodedSlashes === 'keep',
      criticality: CRITICALITIES.indexOf(route.criticality),
      action,
      metrics,
    }
    candidates.push({
      plan: route,
      when: compileWhen(route, options),
      value,
      answersPreflights: route.policies.some((use) => answersPreflights(use, catalog)),
    })
  }
  return candidates
}

/**
 * A condition that fails to evaluate does not match: the request is left to the routes behind it, or to 404. But what
 * cannot be asked for want of memory is left to nobody: load must not choose routes.
 */
function compileWhen(route: RoutePlan, { catalog, context, questions }: RouteOptions): Predicate | null {
  if (route.match.when === null) return null
  const condition = compileCondition(route.match.when, 'route', { bodies: catalog.bodies })
  if (condition.constant === true) return null
  questions.push(...condition.questions)
  return {
    readsBody: condition.needs.body,
    test(x) {
      try {
        return condition.test(x)
      } catch (error) {
        // Clients send what they like; a body of another kind is nothing that the operator has to hear of.
        if (error instanceof UnreadableBody) {
          if (error.code === 'GW_OVERLOADED') throw error
        } else context.report('condition_failed', { route: route.id, error: String(error) })
        return false
      }
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function unwind(closers: readonly Closer[]): void {
  for (let i = closers.length - 1; i >= 0; i--) closers[i]!()
}
