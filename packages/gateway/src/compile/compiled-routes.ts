import type { Plan, RoutePlan } from '@sluice/config'
import { compileCondition, loadBodyLanguages } from '@sluice/config/serving'
import { type BodyQuery, type Catalog, type Slices, UnreadableBody } from '@sluice/core'
import type { PipelineContext } from '../flow/context.js'
import { CpuBudget } from '../flow/cpu-budget.js'
import type { Refreshes } from '../flow/refreshes.js'
import { CRITICALITIES, type Route } from '../flow/route.js'
import type { Candidate, Predicate } from '../route/candidate.js'
import type { Upstream } from '../upstream/upstream.js'
import { compileAction } from './action.js'
import { ChainCompiler } from './chain.js'
import { answersPreflights } from './chain-order.js'
import type { SnapshotEnv } from './compile-env.js'
import { compileRouteLog } from './route-log.js'
import { type CompiledStep, StepTable } from './step-table.js'

/** A compiled route, shared by snapshots with an identical plan for it. */
interface CompiledRoute {
  readonly candidate: Candidate<Route>
  /** Body queries of the route's condition. */
  readonly questions: readonly BodyQuery[]
  readonly steps: readonly CompiledStep[]
}

/** Inputs of policies besides their own settings. */
export interface Surroundings {
  readonly catalog: Catalog
  /** Serialised rest of the plan: parts outside routes, values of references and file versions. */
  readonly rest: string
}

/** Options for `CompiledRoutes`. */
interface CompiledRoutesOptions {
  readonly surroundings: Surroundings
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly jobs: { count: number }
  readonly env: SnapshotEnv
  /** Compiled routes of the previous snapshot for reuse, or null if there are none or the surroundings differ. */
  readonly last: CompiledRoutes | null
}

/** Options that differ between snapshots. */
interface CompileOptions {
  readonly catalog: Catalog
  readonly context: PipelineContext
  readonly digest: string
  readonly refreshes: Refreshes
  readonly slices: Slices
}

/**
 * The compiled routes of a snapshot. Routes unchanged since the previous snapshot are reused with their
 * policies.
 */
export class CompiledRoutes {
  readonly jobs: { count: number }
  readonly steps: StepTable
  readonly #surroundings: Surroundings
  readonly #upstreams: ReadonlyMap<string, Upstream>
  readonly #routes = new Map<RoutePlan, CompiledRoute>()
  readonly #env: SnapshotEnv
  #last: CompiledRoutes | null

  constructor({ surroundings, upstreams, jobs, env, last }: CompiledRoutesOptions) {
    this.#surroundings = surroundings
    this.jobs = jobs
    this.#upstreams = upstreams
    this.#env = env
    this.#last = last
    this.steps = new StepTable((closers) => env.ofStep(closers), last?.steps ?? null)
  }

  /** Returns true if the surroundings are equal, so that routes can be reused. */
  isIn({ catalog, rest }: Surroundings): boolean {
    return this.#surroundings.catalog === catalog && this.#surroundings.rest === rest
  }

  /** Compiles the routes of a plan. @throws Error naming what fails to compile. */
  async compile(
    plan: Plan,
    options: CompileOptions,
  ): Promise<{ readonly candidates: Candidate<Route>[]; readonly questions: BodyQuery[] }> {
    const { catalog, context, digest, refreshes, slices } = options
    const onIgnored = (policy: string, error: unknown): void =>
      context.report('policy_ignored', { policy, error: String(error) })
    const chains = new ChainCompiler(catalog, this.#env, onIgnored, this.steps)
    const candidates: Candidate<Route>[] = []
    const questions: BodyQuery[] = []
    for (const route of plan.routes) {
      if (slices.isOver) await slices.next()
      const compiled = this.#inherited(route) ?? (await this.#compileRoute(route, plan, chains, options))
      this.#routes.set(route, compiled)
      questions.push(...compiled.questions)
      const value = { ...compiled.candidate.value, configDigest: digest, refreshes }
      candidates.push({ ...compiled.candidate, value })
    }
    this.#last = null
    this.steps.complete()
    return { candidates, questions }
  }

  #inherited(route: RoutePlan): CompiledRoute | null {
    const known = this.#last === null ? undefined : this.#last.#routes.get(route)
    if (known === undefined) return null
    const { action } = known.candidate.value
    const isSameUpstream =
      action.kind !== 'proxy' || this.#upstreams.get(action.upstream.name) === action.upstream
    return isSameUpstream && this.steps.inherit(known.steps) ? known : null
  }

  async #compileRoute(
    route: RoutePlan,
    plan: Plan,
    chains: ChainCompiler,
    { catalog, context, digest }: CompileOptions,
  ): Promise<CompiledRoute> {
    await loadBodyLanguages(JSON.stringify(route), catalog)
    const steps: CompiledStep[] = []
    const cpuBudget = route.cpuBudgetMs === null ? null : new CpuBudget(route.cpuBudgetMs)
    const chain = await chains.compile(route.policies, steps)
    const value = {
      id: route.id,
      configDigest: digest,
      api: route.api,
      template: route.match.path.text,
      log: compileRouteLog(route, plan.log),
      chain: cpuBudget === null ? chain : cpuBudget.measure(chain),
      cpuBudget,
      keepsEncodedSlashes: route.encodedSlashes === 'keep',
      criticality: CRITICALITIES.indexOf(route.criticality),
      action: compileAction(route, this.#upstreams),
      metrics: context.metrics.route(route.id),
      refreshes: null, // set per snapshot: it refers to the snapshot, which later ones must not keep in memory
    }
    const questions: BodyQuery[] = []
    const candidate = {
      plan: route,
      when: compileWhen(route, { catalog, context, questions }),
      value,
      answersPreflights: route.policies.some((use) => answersPreflights(use, catalog)),
    }
    return { candidate, questions, steps }
  }
}

interface ConditionOptions extends Pick<CompileOptions, 'catalog' | 'context'> {
  /** Receives the body queries of the condition. */
  readonly questions: BodyQuery[]
}

/**
 * Compiles a route's `when`. If it fails to evaluate, the route does not match, and the request falls through
 * to later routes or to 404. Two failures are rethrown instead: a lack of memory, because load must not
 * select routes, and an ambiguous body, because the upstream might read it differently from the gateway.
 */
function compileWhen(route: RoutePlan, { catalog, context, questions }: ConditionOptions): Predicate | null {
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
        // Clients may send any body, so an unreadable one is not worth reporting to the operator.
        if (error instanceof UnreadableBody) {
          if (error.code === 'GW_OVERLOADED' || error.isAmbiguous) throw error
        } else context.report('condition_failed', { route: route.id, error: String(error) })
        return false
      }
    },
  }
}
