import type { ConfigBundle, ListenerPlan } from '@sluice/config'
import { conceal, loadPlannedPolicies } from '@sluice/config/serving'
import {
  type Catalog,
  type LogIdentity,
  type LogSink,
  MemoryStore,
  RequestIds,
  type StateStore,
} from '@sluice/core'
import { PlanReader } from '../compile/plan-reader.js'
import { compileSnapshot, type Snapshot } from '../compile/snapshot.js'
import { CachedClock } from '../lib/cached-clock.js'
import { SharedTable } from '../lib/shared-table.js'
import { ThreadPool } from '../lib/threads/thread-pool.js'
import { TimerWheel } from '../lib/timer-wheel.js'
import type { Listener, ListenerSettings } from '../listen/listener.js'
import { PluginTable } from '../plugins/plugin-table.js'
import { WebSockets } from '../protocol/websocket/websockets.js'
import { serverProblem, serverSamples } from '../state/state-samples.js'
import { ValkeyStore } from '../state/valkey/valkey-store.js'
import { type Heartbeat, NO_HEARTBEAT } from '../telemetry/heartbeat.js'
import { SampleLedger } from '../telemetry/merge.js'
import { Metrics } from '../telemetry/metrics.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'
import { startTracing } from '../tracing/tracing.js'
import { OutboundPool } from '../upstream/outbound/outbound-pool.js'
import { type Network, systemNetwork } from '../upstream/transport/network.js'
import { Upstream } from '../upstream/upstream.js'
import { stateSamples, upstreamSamples } from '../upstream/upstream-samples.js'
import { Admission } from './admission/admission.js'
import type { DataPlane, Prepared, SendStepTrace } from './data-plane.js'
import { descriptorLimit, reportDescriptors } from './descriptor-budget.js'
import { drainInFlight, openConnections } from './drain-in-flight.js'
import type { StepTraceSession, TargetFacts } from './messages.js'
import { createListener } from './open-listener.js'
import { RequestDispatcher } from './request-dispatcher.js'
import { WorkerResponses } from './stored-responses.js'
import { TargetOutages } from './target-outages.js'
import { type PreparedListeners, WorkerListeners } from './worker-listeners.js'
import { WorkerLog } from './worker-log.js'

const NO_ROUTES: ReadonlySet<string> = new Set()

interface DataPlaneOptions {
  readonly catalog: Catalog
  /** Worker number, from 1 to N. */
  readonly worker: number
  readonly version: string
  /** Chosen port by listener address, where the plan says port 0. */
  readonly ports: Readonly<Record<string, number>>
  readonly report: (event: string, fields: object) => void
  /** Returns the longest recent delay of the event loop in milliseconds; defaults to 0. */
  readonly loopLagMs?: () => number
  /** Heartbeat of the worker; defaults to none. */
  readonly heartbeat?: Heartbeat
  /** State store shared by all workers; defaults to one in this process. */
  readonly memory?: StateStore
  /** Secret shared by all workers, see StateStores; defaults to none. */
  readonly secret?: Uint8Array
  /** Returns the current secret of session tickets. If undefined, each listener creates one. */
  readonly ticketSecret?: () => Uint8Array
  /** Name resolution; defaults to the system's. */
  readonly network?: Network
  /** Maximum number of open descriptors; defaults to the system's limit. */
  readonly descriptors?: number
  /** True (default) to bound receive buffers, so that one fast upload cannot delay others; costs 50 ms per listener. */
  readonly isReceiveBounded?: boolean
  /** True to open the first listeners at activation, because other workers serve on their ports; defaults to false. */
  readonly opensLate?: boolean
  /** Called before code of plugins runs; defaults to nothing. */
  readonly announce?: (what: string) => Promise<void>
}

/** Threads per worker: enough that one large body does not delay another, few enough for the event loop. */
const MAX_THREADS = 2

/** Creates the data plane of one worker. It serves nothing until a bundle is prepared and activated. */
export function createDataPlane(options: DataPlaneOptions): DataPlane {
  return new WorkerDataPlane(options)
}

class WorkerDataPlane implements DataPlane {
  readonly #options: DataPlaneOptions
  readonly #shared: SharedTable
  /** Counters of upstreams that no longer exist. */
  readonly #upstreamSamples = new SampleLedger()
  readonly #threads: ThreadPool
  readonly #memory: StateStore
  readonly responses: WorkerResponses
  readonly #network: Network
  readonly #log: WorkerLog
  readonly #plans = new PlanReader()
  readonly #plugins: PluginTable
  readonly #context
  readonly #admission = new Admission()
  readonly #dispatcher: RequestDispatcher
  readonly #ids = new RequestIds()
  readonly #outages = new TargetOutages()
  /** Maximum number of open descriptors. */
  readonly #descriptors: number
  readonly #listeners: WorkerListeners
  #snapshot: Snapshot | null = null
  #drainUntilMono = Number.POSITIVE_INFINITY
  readonly #onFault = (error: unknown): void =>
    this.#options.report('listener_fault', { error: String(error) })

  constructor(options: DataPlaneOptions) {
    this.#options = options
    this.#descriptors = options.descriptors ?? descriptorLimit()
    this.#shared = new SharedTable((value) => this.#closeShared(value))
    this.responses = new WorkerResponses(this.#shared)
    this.#threads = new ThreadPool(MAX_THREADS, (error) =>
      options.report('thread_fault', { error: String(error) }),
    )
    this.#memory = options.memory ?? new MemoryStore()
    this.#network = options.network ?? systemNetwork()
    this.#plugins = new PluginTable({
      worker: options.worker,
      announce: options.announce ?? (async () => {}),
    })
    this.#log = new WorkerLog({ ...options, digest: () => this.digest ?? '' })
    this.#context = {
      wheel: new TimerWheel(),
      clock: new CachedClock(),
      metrics: new Metrics(),
      log: this.#log.sink,
      tracing: startTracing(undefined),
      heartbeat: options.heartbeat ?? NO_HEARTBEAT,
      report: options.report,
      loopLagMs: options.loopLagMs ?? (() => 0),
      inFlight: 0,
      webSockets: new WebSockets(),
      isLeaving: false,
      isDraining: false,
      isCutting: false,
    }
    this.#dispatcher = new RequestDispatcher(this.#context, this.#admission)
    this.#listeners = new WorkerListeners({
      create: (plan, settings) => this.#createListener(plan, settings),
      descriptors: this.#descriptors,
      isReceiveBounded: options.isReceiveBounded !== false,
      onFault: this.#onFault,
    })
  }

  get digest(): string | null {
    return this.#snapshot?.digest ?? null
  }

  get inFlight(): number {
    return this.#context.inFlight
  }

  get connections(): number {
    return this.#listeners.connections
  }

  get stateProblem(): string | null {
    return serverProblem(this.#shared)
  }

  async prepare(bundle: ConfigBundle): Promise<Prepared> {
    const plan = await this.#plans.read(bundle)
    await loadPlannedPolicies(plan, this.#options.catalog)
    const catalog = await this.#plugins.extend(this.#options.catalog, plan.plugins)
    const snapshot = await compileSnapshot(plan, bundle.digest, {
      catalog,
      shared: this.#shared,
      threads: this.#threads,
      memory: this.#memory,
      secret: this.#options.secret,
      context: this.#context,
      network: this.#network,
      values: bundle.values,
      // Only routes delivered as texts can be compared with the previous ones.
      last: bundle.routeTexts === undefined ? null : this.#snapshot,
    }).catch((error: Error) => {
      throw new Error(conceal(error.message, bundle.values))
    })
    for (const upstream of snapshot.upstreams.values()) this.#outages.applyTo(upstream)
    const isLate = this.#options.opensLate === true && this.#snapshot === null
    const logged = { plan, values: bundle.values, catalog }
    let sink: LogSink | null = null
    let listeners: PreparedListeners
    const discard = (): void => {
      if (sink !== null) this.#log.discard(sink)
      snapshot.release()
    }
    try {
      sink = this.#log.open(logged)
      await sink?.opened
      listeners = await this.#listeners.prepare(plan, isLate)
    } catch (error) {
      discard()
      throw error
    }
    return {
      activate: async () => {
        this.#dispatcher.isReady ||= isLate // health checks must not fail until the supervisor says that it is ready
        if (!listeners.isOpen) await listeners.open()
        this.#log.activate(logged, sink)
        await this.#activate(snapshot, listeners)
      },
      discard: () => {
        listeners.discard()
        discard()
      },
    }
  }

  #createListener(plan: ListenerPlan, settings: ListenerSettings): Listener {
    const port = this.#options.ports[plan.address] ?? plan.port
    const onRejected = (): void => {
      this.#context.metrics.countUnrouted('GW_OVERLOADED')
      // uWS accepts connections in a loop while more arrive, possibly without end.
      this.#context.heartbeat.beatIfLate()
    }
    return createListener({
      plan,
      port,
      settings,
      handler: this.#dispatcher,
      ids: this.#ids,
      clock: this.#context.clock,
      wheel: this.#context.wheel,
      ticketSecret: this.#options.ticketSecret,
      onFault: this.#onFault,
      onRejected,
      onRenewal: () => this.#options.report('certificates_renewed', { listener: plan.address }),
    })
  }

  async #activate(snapshot: Snapshot, listeners: PreparedListeners): Promise<void> {
    const before = this.#snapshot
    this.#snapshot = snapshot
    reportDescriptors(snapshot.plan, this.#descriptors, this.#options.report)
    this.#admission.configure(snapshot.plan.overload)
    this.#context.tracing = startTracing(snapshot.plan.tracing)
    const isStopped = listeners.activate()
    this.#dispatcher.serve(snapshot) // after the log is switched: waiting requests may finish at once
    this.#context.webSockets.closeExcept(snapshot.webSocketRoutes)
    before?.release()
    await isStopped
  }

  setReady(isReady: boolean): void {
    this.#dispatcher.isReady = isReady
    if (!isReady) this.#announceEnd()
  }

  onLoopCheck(): void {
    this.#admission.onLoopCheck()
  }

  setTargets({ outages, services }: TargetFacts): void {
    this.#network.services?.set(services)
    this.#outages.set(outages)
    for (const upstream of this.#upstreams()) this.#outages.applyTo(upstream)
  }

  setStepTraces(sessions: readonly StepTraceSession[], send: SendStepTrace): [number, number][] {
    return this.#dispatcher.setStepTraces(sessions, { ...this.#options, send, log: this.#log })
  }

  /** Returns all open upstreams, including those of a bundle that is only prepared. */
  #upstreams(): Upstream[] {
    return [...this.#shared.values()].filter((value) => value instanceof Upstream)
  }

  samples(): Sample[] {
    return [
      { name: 'gw_requests_in_flight', labels: '', value: this.inFlight },
      { name: 'gw_connections', labels: '', value: this.connections },
      ...this.#context.webSockets.samples(),
      ...this.#context.metrics.samples(),
      ...this.#context.metrics.workerSamples(label('worker', String(this.#options.worker))),
      ...this.#admission.samples(this.#options.worker),
      ...serverSamples(this.#shared),
      ...[...(this.#snapshot?.upstreams.values() ?? [])].flatMap(stateSamples),
      ...this.responses.samples(),
      ...this.#upstreamSamples.merged(this.#upstreams().map(upstreamSamples)),
    ]
  }

  /** Number of requests and WebSockets for which a drain waits. */
  get #underWay(): number {
    return this.inFlight + this.#admission.waiting + this.#context.webSockets.open
  }

  /** Closes a shared value. The counters of an upstream are kept, because it may come back. */
  #closeShared(value: unknown): void {
    if (value instanceof ValkeyStore || value instanceof OutboundPool) void value.close()
    this.responses.retire(value)
    if (!(value instanceof Upstream)) return
    this.#upstreamSamples.retire(upstreamSamples(value).filter((sample) => sample.value > 0))
    void value.close()
  }

  logIdentity(): LogIdentity {
    return this.#log.identity()
  }

  /** Tells clients to reconnect, at the same time as load balancers learn of the drain. */
  #announceEnd(): void {
    this.#context.isLeaving = true
    for (const listener of this.#listeners.all) listener.announceEnd()
  }

  async drain(deadlineMs: number, isReplaced = false): Promise<number> {
    this.#drainUntilMono = Math.min(this.#drainUntilMono, performance.now() + deadlineMs)
    if (isReplaced) {
      // Before the clients are asked to reconnect, so that they do not come back here.
      await this.#listeners.stopListening()
    }
    this.#announceEnd()
    this.#context.isDraining = true
    if (!isReplaced) this.#dispatcher.isReady = false
    this.#dispatcher.drain()
    const listeners = this.#listeners.all
    for (const listener of listeners) listener.close()
    this.#context.webSockets.closeExcept(NO_ROUTES)
    await Promise.all(listeners.map((listener) => listener.stopListening())) // has accepted what waited
    await drainInFlight(
      () => this.#underWay + (isReplaced ? openConnections(listeners) : 0),
      () => this.#drainUntilMono,
    )
    const cut = this.#underWay
    this.#context.isCutting = true
    for (const listener of listeners) listener.terminate()
    this.#context.webSockets.destroy()
    // Returns what policies have reserved of shared limits.
    this.#snapshot?.release()
    // Answers arrive in order: the first follows pending calls, the second what those gave back.
    for (let i = 0; i < 2; i++) await this.#memory.get('').catch(() => null)
    await this.#log.close()
    this.#context.wheel.close()
    this.#shared.clear()
    await this.#threads.close()
    this.#plugins.close()
    return cut
  }

  cut(): void {
    this.#drainUntilMono = 0
  }
}
