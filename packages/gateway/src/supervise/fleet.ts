import type { Address, AdminPlan, ConfigBundle, Plan } from '@sluice/config'
import type { OperationLog } from '../telemetry/operation-log.js'
import type { EmbeddedCacheServer } from './cache-server/embedded-cache-server.js'
import type { ListenerPorts, Ports } from './listeners/listener-ports.js'
import type { MetricsPush } from './metrics-push.js'
import { type Endpoint, type Preparation, type PreparedChange, prepared } from './rollout/preparation.js'
import { type Assignment, type MayActivate, type Objection, rollOut } from './rollout/rollout.js'
import type { Services } from './services/services.js'
import type { WorkerPool } from './workers/worker-pool.js'

/** The supervisor's own servers for operators. */
export interface Endpoints {
  readonly admin: Endpoint<AdminPlan>
  /** Metrics and health without tokens, on an address of their own. */
  readonly metrics: Endpoint<Address | undefined>
  readonly metricsPush: MetricsPush
}

interface FleetOptions extends Endpoints {
  readonly pool: WorkerPool
  readonly ports: ListenerPorts
  readonly services: Services
  readonly cacheServer: EmbeddedCacheServer
  readonly size: (plan: Plan) => number
  readonly resolve: (bundle: ConfigBundle) => Plan
  /** Returns the reason why workers cannot start, or null. */
  readonly failure: () => string | null
  /** Called when a plan is active everywhere. */
  readonly onServing: (plan: Plan) => void
  readonly log: OperationLog
}

/** Everything outside this process's memory that a plan changes: addresses, the admin API and the workers. */
export class Fleet {
  readonly #options: FleetOptions
  #epoch = 0
  /** Digest by entry file of the plugins that workers may have imported. */
  #imported = new Map<string, string>()

  constructor(options: FleetOptions) {
    this.#options = options
  }

  /**
   * Rolls a bundle out everywhere. Returns an empty list on success, otherwise the objections, and nothing
   * has changed.
   * @param confirm called when everything is prepared; null activates right away.
   */
  async rollOut(bundle: ConfigBundle, confirm: MayActivate | null): Promise<readonly Objection[]> {
    const { ports } = this.#options
    // Only workers need the routes.
    const plan = this.#options.resolve({ ...bundle, routeTexts: [] })
    const claim = await ports.claim(plan.listeners)
    const objections = claim.ok
      ? await this.#rollOutTo(claim.ports, bundle, plan, confirm)
      : claim.reasons.map(ownObjection)
    if (objections.length > 0) ports.release()
    return objections
  }

  async #rollOutTo(
    ports: Ports,
    bundle: ConfigBundle,
    plan: Plan,
    confirm: MayActivate | null,
  ): Promise<readonly Objection[]> {
    const preparation = await this.#prepareOwn(plan)
    if (!preparation.ok) return [ownObjection(preparation.reason)]
    const objections = await this.#vote(bundle, ports, confirm)
    if (objections.length > 0) await preparation.prepared.discard()
    else await this.#settle(plan, ports, preparation.prepared)
    return objections
  }

  /** Prepares this process's own listeners and watches. If one fails, the others are discarded. */
  async #prepareOwn(plan: Plan): Promise<Preparation> {
    const { admin, metrics, metricsPush, services, cacheServer } = this.#options
    const all: PreparedChange[] = []
    const discard = async () => void (await Promise.all(all.map((one) => one.discard())))
    for (const prepare of [
      () => admin.prepare(plan.admin),
      () => metrics.prepare(plan.metrics.address),
      () => metricsPush.prepare(plan),
      () => services.prepare(plan),
      () => cacheServer.prepare(plan.cache),
    ]) {
      const preparation = await prepare()
      if (!preparation.ok) {
        await discard()
        return preparation
      }
      all.push(preparation.prepared)
    }
    const activate = async () => void (await Promise.all(all.map((one) => one.activate())))
    return prepared(activate, discard)
  }

  /** Has all workers activate the bundle, or none. */
  async #vote(
    bundle: ConfigBundle,
    ports: Ports,
    confirm: MayActivate | null,
  ): Promise<readonly Objection[]> {
    const { pool } = this.#options
    const { plan } = bundle
    const first = { headBytes: headBytesOf(plan), reservedBytes: cacheBytesOf(plan) }
    const isUp = pool.isStarted || (await pool.start(this.#options.size(plan), first))
    if (!isUp) return [ownObjection(this.#options.failure() ?? 'the workers did not start; see the log')]
    const assignment: Assignment = { epoch: ++this.#epoch, bundle: this.#sized(bundle), ports }
    if (this.#needsNewProcesses(bundle.plan)) {
      if (confirm !== null)
        return [ownObjection('a plugin has changed and needs new workers: a prepared rollout cannot do that')]
      return this.#renew(assignment)
    }
    const result = await rollOut(assignment, await pool.participants(), confirm)
    if (result.kind === 'rolled-back') return result.objections
    await pool.commit(assignment)
    return []
  }

  /**
   * Returns true if a plugin has changed. Node.js imports a module once, so new plugin code needs new
   * processes.
   */
  #needsNewProcesses({ plugins }: Plan): boolean {
    const isChanged = plugins.some(({ entry, digest }) => (this.#imported.get(entry) ?? digest) !== digest)
    for (const { entry, digest } of plugins) if (!isChanged) this.#imported.set(entry, digest)
    return isChanged
  }

  /** Replaces all workers by new processes with the bundle. If the first one fails, nothing has changed. */
  async #renew(assignment: Assignment): Promise<readonly Objection[]> {
    const { pool, log } = this.#options
    const { plan } = assignment.bundle
    const refusal = await pool.renew(assignment, plan.drain.timeoutMs)
    if (refusal !== null) return [{ worker: 1, reason: refusal }]
    log.info('workers.replaced', { because: 'a plugin has changed' })
    this.#imported = new Map(plan.plugins.map(({ entry, digest }) => [entry, digest]))
    return []
  }

  /** Adds the worker count to the bundle. Workers divide limits for the whole gateway by it. */
  #sized(bundle: ConfigBundle): ConfigBundle {
    return { ...bundle, plan: { ...bundle.plan, workers: this.#options.size(bundle.plan) } }
  }

  async #settle(plan: Plan, ports: Ports, admin: PreparedChange): Promise<void> {
    this.#options.ports.commit(ports)
    this.#options.onServing(plan)
    await admin.activate()
    const { pool, log, size } = this.#options
    const workers = size(plan)
    if (workers !== pool.slots.length) {
      log.info('workers.resized', { from: pool.slots.length, to: workers })
      pool.resize(workers, plan.drain.timeoutMs)
    }
    pool.reservedBytes = cacheBytesOf(plan)
    const headBytes = headBytesOf(plan)
    if (headBytes <= pool.headBytes) return
    // The native parser reads its limit from the environment only once, so a larger limit needs a new
    // process.
    log.info('workers.replaced', { headBytes, because: 'limits.headerBytes was raised' })
    await pool.replaceAll(headBytes, plan.drain.timeoutMs)
  }
}

function headBytesOf(plan: Plan): number {
  return Math.max(0, ...plan.listeners.map((listener) => listener.limits.headerBytes))
}

/** Returns the bytes reserved for the cache server. */
function cacheBytesOf({ cache }: Plan): number {
  const serve = cache?.serve
  if (serve === undefined) return 0
  return serve.spaces.reduce((sum, { maxBytes }) => sum + (maxBytes ?? 0), serve.maxBytes)
}

function ownObjection(reason: string): Objection {
  return { worker: 0, reason }
}
