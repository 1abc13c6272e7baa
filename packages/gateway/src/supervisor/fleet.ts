import type { ConfigBundle, Plan } from '@sluice/config'
import type { AdminEndpoint, AdminPreparation, PreparedAdmin } from '../admin/admin-endpoint.js'
import type { MetricsEndpoint } from '../admin/metrics-endpoint.js'
import type { Services } from '../kubernetes/services.js'
import type { OperationLog } from '../telemetry/operation-log.js'
import type { OwnCacheServer } from './cache-server/own-cache-server.js'
import type { ListenerPorts, Ports } from './listener-ports.js'
import { type Assignment, type MayActivate, type Objection, rollOut } from './rollout.js'
import type { WorkerPool } from './worker-pool.js'

/** What a bundle is brought to. */
export interface FleetOptions {
  readonly pool: WorkerPool
  readonly ports: ListenerPorts
  readonly admin: AdminEndpoint
  readonly metrics: MetricsEndpoint
  readonly services: Services
  readonly cacheServer: OwnCacheServer
  /** The number of workers that a plan makes. */
  readonly size: (plan: Plan) => number
  /** The plan with the values of its references. */
  readonly resolve: (bundle: ConfigBundle) => Plan
  /** Why a worker cannot start; null while none is given up. */
  readonly failure: () => string | null
  /** A plan serves everywhere. */
  readonly onServing: (plan: Plan) => void
  readonly log: OperationLog
}

/** Everything that a plan touches outside this process's memory: addresses, the admin API and the workers. */
export class Fleet {
  readonly #options: FleetOptions
  #epoch = 0
  /** Entry to digest of the plugins that workers may have imported. */
  #imported = new Map<string, string>()

  constructor(options: FleetOptions) {
    this.#options = options
  }

  /**
   * Brings a bundle into service everywhere. An empty list: it serves; else who objected, and nothing has changed.
   * @param agree asked when everything is prepared; null: nobody is.
   */
  async bring(bundle: ConfigBundle, agree: MayActivate | null): Promise<readonly Objection[]> {
    const { ports } = this.#options
    // Only workers need the routes.
    const plan = this.#options.resolve({ ...bundle, routeTexts: [] })
    const claim = await ports.claim(plan.listeners)
    const objections = claim.ok
      ? await this.#bringTo(claim.ports, bundle, plan, agree)
      : claim.reasons.map(ownObjection)
    if (objections.length > 0) ports.release()
    return objections
  }

  async #bringTo(
    ports: Ports,
    bundle: ConfigBundle,
    plan: Plan,
    agree: MayActivate | null,
  ): Promise<readonly Objection[]> {
    const preparation = await this.#prepareOwn(plan)
    if (!preparation.ok) return [ownObjection(preparation.reason)]
    const objections = await this.#vote(bundle, ports, agree)
    if (objections.length > 0) await preparation.prepared.discard()
    else await this.#settle(plan, ports, preparation.prepared)
    return objections
  }

  /** What this process does itself, its addresses and watches: all of it can be had, or none is begun. */
  async #prepareOwn(plan: Plan): Promise<AdminPreparation> {
    const { admin, metrics, services, cacheServer } = this.#options
    const all: PreparedAdmin[] = []
    const discard = async () => void (await Promise.all(all.map((one) => one.discard())))
    for (const prepare of [
      () => admin.prepare(plan.admin),
      () => metrics.prepare(plan.metrics.address),
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
    return { ok: true, prepared: { activate, discard } }
  }

  /** Has the workers serve the bundle, all or none. */
  async #vote(bundle: ConfigBundle, ports: Ports, agree: MayActivate | null): Promise<readonly Objection[]> {
    const { pool } = this.#options
    const { plan } = bundle
    const first = { headBytes: headBytesOf(plan), reservedBytes: cacheBytesOf(plan) }
    const isUp = pool.isStarted || (await pool.start(this.#options.size(plan), first))
    if (!isUp) return [ownObjection(this.#options.failure() ?? 'the workers do not start; see the log')]
    const assignment: Assignment = { epoch: ++this.#epoch, bundle: this.#sized(bundle), ports }
    if (this.#takesNewProcesses(bundle.plan)) {
      if (agree !== null)
        return [ownObjection('a plugin has changed: new processes need it, and none can wait')]
      return this.#renew(assignment)
    }
    const result = await rollOut(assignment, await pool.participants(), agree)
    if (result.kind === 'rolled-back') return result.objections
    await pool.commit(assignment)
    return []
  }

  /** Node.js imports a module once: a process that has the code of a plugin cannot have that of another version. */
  #takesNewProcesses({ plugins }: Plan): boolean {
    const isChanged = plugins.some(({ entry, digest }) => (this.#imported.get(entry) ?? digest) !== digest)
    for (const { entry, digest } of plugins) if (!isChanged) this.#imported.set(entry, digest)
    return isChanged
  }

  /** Has new processes serve the bundle. The first is the test: when it cannot, nothing has changed. */
  async #renew(assignment: Assignment): Promise<readonly Objection[]> {
    const { pool, log } = this.#options
    const { plan } = assignment.bundle
    const refusal = await pool.renew(assignment, plan.drain.timeoutMs)
    if (refusal !== null) return [{ worker: 1, reason: refusal }]
    log.info('workers.replaced', { because: 'a plugin has changed' })
    this.#imported = new Map(plan.plugins.map(({ entry, digest }) => [entry, digest]))
    return []
  }

  /** Workers learn how many they are: bounds that hold for all of them together are shared out by it. */
  #sized(bundle: ConfigBundle): ConfigBundle {
    return { ...bundle, plan: { ...bundle.plan, workers: this.#options.size(bundle.plan) } }
  }

  async #settle(plan: Plan, ports: Ports, admin: PreparedAdmin): Promise<void> {
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
    // The native parser takes its limit from the environment, once: only a new process can have a larger one.
    log.info('workers.replaced', { headBytes, because: 'limits.headerBytes was raised' })
    await pool.replaceAll(headBytes, plan.drain.timeoutMs)
  }
}

function headBytesOf(plan: Plan): number {
  return Math.max(0, ...plan.listeners.map((listener) => listener.limits.headerBytes))
}

/** What the cache server may hold of the memory that the gateway has. */
function cacheBytesOf({ cache }: Plan): number {
  const serve = cache?.serve
  if (serve === undefined) return 0
  return serve.spaces.reduce((sum, { maxBytes }) => sum + (maxBytes ?? 0), serve.maxBytes)
}

function ownObjection(reason: string): Objection {
  return { worker: 0, reason }
}
