import type { ConfigBundle, ListenerPlan, Plan } from '@sluice/config'
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
import { SharedTable } from '../compile/shared-table.js'
import { compileSnapshot, type Snapshot } from '../compile/snapshot.js'
import { CachedClock } from '../data-plane/lib/cached-clock.js'
import { ThreadPool } from '../data-plane/lib/threads/thread-pool.js'
import { TimerWheel } from '../data-plane/lib/timer-wheel.js'
import type { Listener, ListenerSettings } from '../data-plane/listener/listener.js'
import { boundListeners, openListener } from '../data-plane/listener/open-listener.js'
import { Admission } from '../data-plane/pipeline/admission.js'
import { type Network, systemNetwork } from '../data-plane/upstream/network.js'
import { OutboundPool } from '../data-plane/upstream/outbound-pool.js'
import { SPILL_FILES } from '../data-plane/upstream/spill-file.js'
import { Upstream } from '../data-plane/upstream/upstream.js'
import { stateSamples, upstreamSamples } from '../data-plane/upstream/upstream-samples.js'
import { WebSockets } from '../data-plane/websocket/websockets.js'
import { PluginTable } from '../plugins/plugin-table.js'
import { serverProblem, serverSamples } from '../state/state-samples.js'
import { ValkeyStore } from '../state/valkey/valkey-store.js'
import { type Heartbeat, NO_HEARTBEAT } from '../telemetry/heartbeat.js'
import { SampleLedger } from '../telemetry/merge.js'
import { Metrics } from '../telemetry/metrics.js'
import type { Sample } from '../telemetry/sample.js'
import type { DataPlane, Prepared } from './data-plane.js'
import { affordableConnections, descriptorLimit, divideDescriptors } from './descriptor-budget.js'
import { GatewayGate } from './gateway-gate.js'
import { KnownOutages } from './known-outages.js'
import { keyOf, settingsOf } from './listener-settings.js'
import type { TargetFacts } from './messages.js'
import { WorkerResponses } from './stored-responses.js'
import { waitForRequests } from './wait-for-requests.js'
import { WorkerLog } from './worker-log.js'

const NO_ROUTES: ReadonlySet<string> = new Set()

export interface DataPlaneOptions {
  readonly catalog: Catalog
  /** 1 to N. */
  readonly worker: number
  readonly version: string
  /** Listener address to the port chosen for it, where the plan says port 0. */
  readonly ports: Readonly<Record<string, number>>
  readonly report: (event: string, fields: object) => void
  /** The longest delay of the event loop of late, ms; default: always 0. */
  readonly loopLagMs?: () => number
  /** Default: of a worker that nobody watches. */
  readonly heartbeat?: Heartbeat
  /** What all workers of the gateway share; default: in this process. */
  readonly memory?: StateStore
  /** Which they all have, see StateStores; default: none does. */
  readonly secret?: Uint8Array
  /** Default: the system's. */
  readonly network?: Network
  /** The most descriptors that the process may have open; default: what the system says. */
  readonly descriptors?: number
  /** False: listeners cost some 50 ms of CPU time less, and one fast upload can hold up all other requests. Default: true. */
  readonly isReceiveBounded?: boolean
  /** Hears what code of plugins is about to run; default: nobody. */
  readonly announce?: (what: string) => Promise<void>
}

/** Of one worker, beside its own: enough that a large body does not wait for another, few enough to leave the cores. */
const MAX_THREADS = 2

/** Makes the data plane of one worker; it serves nothing until a bundle is prepared and activated. */
export function createDataPlane(options: DataPlaneOptions): DataPlane {
  return new WorkerDataPlane(options)
}

interface OpenListener {
  readonly plan: ListenerPlan
  readonly listener: Listener
}

class WorkerDataPlane implements DataPlane {
  readonly #options: DataPlaneOptions
  readonly #shared: SharedTable
  /** What upstreams that are gone have counted. */
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
  readonly #gate: GatewayGate
  readonly #ids = new RequestIds()
  readonly #outages = new KnownOutages()
  /** The most that this process may have open. */
  readonly #descriptors: number
  #listeners = new Map<string, OpenListener>()
  /** Opened for a bundle that is not activated yet. */
  readonly #coming = new Set<OpenListener>()
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
      heartbeat: options.heartbeat ?? NO_HEARTBEAT,
      report: options.report,
      loopLagMs: options.loopLagMs ?? (() => 0),
      inFlight: 0,
      webSockets: new WebSockets(),
      isLeaving: false,
      isDraining: false,
      isCutting: false,
    }
    this.#gate = new GatewayGate(this.#context, this.#admission)
  }

  get digest(): string | null {
    return this.#snapshot?.digest ?? null
  }

  get inFlight(): number {
    return this.#context.inFlight
  }

  get connections(): number {
    let sum = 0
    for (const { listener } of this.#listeners.values()) sum += listener.connections()
    return sum
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
      // Only routes that come as texts are known to mean what they did.
      last: bundle.routeTexts === undefined ? null : this.#snapshot,
    }).catch((error: Error) => {
      throw new Error(conceal(error.message, bundle.values))
    })
    for (const upstream of snapshot.upstreams.values()) this.#outages.applyTo(upstream)
    const opened: OpenListener[] = []
    const logged = { plan, values: bundle.values, catalog }
    let sink: LogSink | null = null
    try {
      sink = this.#log.open(logged)
      await sink?.opened
      const settings = this.#settingsOf(plan)
      for (const listener of plan.listeners) {
        if (!this.#listeners.has(keyOf(listener))) opened.push(await this.#open(listener, settings(listener)))
      }
    } catch (error) {
      this.#discard(snapshot, opened, sink)
      throw error
    }
    this.#bound(opened)
    return {
      activate: () => {
        if (sink !== null) this.#log.switchTo(sink, logged)
        this.#activate(snapshot, opened)
      },
      discard: () => this.#discard(snapshot, opened, sink),
    }
  }

  /** Nobody waits for it: connections come from now on, and a listener without the bound serves all the same. */
  #bound(opened: readonly OpenListener[]): void {
    if (this.#options.isReceiveBounded === false) return
    // What `node` pauses it does not read.
    const read = opened.filter(({ plan }) => plan.engine === 'uws')
    boundListeners(read.map(({ listener }) => listener)).catch(this.#onFault)
  }

  #discard(snapshot: Snapshot, opened: readonly OpenListener[], sink: LogSink | null): void {
    for (const entry of opened) {
      this.#coming.delete(entry)
      entry.listener.terminate()
    }
    if (sink !== null) this.#log.discard(sink)
    snapshot.release()
  }

  async #open(plan: ListenerPlan, settings: ListenerSettings): Promise<OpenListener> {
    const port = this.#options.ports[plan.address] ?? plan.port
    const onTurnedAway = (): void => {
      this.#context.metrics.countError('GW_OVERLOADED')
      // uWS accepts in one go for as long as others come, which may be without an end.
      this.#context.heartbeat.beatIfLate()
    }
    const listener = await openListener({
      plan,
      port,
      settings,
      gate: this.#gate,
      ids: this.#ids,
      clock: this.#context.clock,
      wheel: this.#context.wheel,
      onFault: this.#onFault,
      onTurnedAway,
      onRenewal: () => this.#options.report('certificates_renewed', { listener: plan.address }),
    })
    const entry = { plan, listener }
    this.#coming.add(entry)
    return entry
  }

  #activate(snapshot: Snapshot, opened: readonly OpenListener[]): void {
    const before = this.#snapshot
    this.#snapshot = snapshot
    this.#reportDescriptors(snapshot.plan)
    this.#admission.configure(snapshot.plan.overload)
    this.#changeListeners(snapshot.plan, opened)
    // Behind the log: requests that have waited may end at once.
    this.#gate.serve(snapshot)
    this.#context.webSockets.closeExcept(snapshot.webSocketRoutes)
    before?.release()
  }

  /** Takes the new listeners in, gives the kept ones their new settings, closes those that are gone. */
  #changeListeners(plan: Plan, opened: readonly OpenListener[]): void {
    for (const entry of opened) this.#coming.delete(entry)
    const settings = this.#settingsOf(plan)
    const listeners = new Map(opened.map((entry) => [keyOf(entry.plan), entry]))
    for (const listenerPlan of plan.listeners) {
      const kept = this.#listeners.get(keyOf(listenerPlan))
      if (kept === undefined) continue
      kept.listener.settings = settings(listenerPlan)
      listeners.set(keyOf(listenerPlan), { plan: listenerPlan, listener: kept.listener })
    }
    for (const [key, { listener }] of this.#listeners) {
      if (!listeners.has(key)) listener.close()
    }
    this.#listeners = listeners
  }

  /** What the listeners of a plan accept, no more connections than there are descriptors for. */
  #settingsOf(plan: Plan): (listener: ListenerPlan) => ListenerSettings {
    const budget = divideDescriptors(this.#descriptors, plan)
    return (listener) => {
      const { limits } = listener
      return {
        ...settingsOf(listener),
        connections: affordableConnections(limits.connections, plan, budget),
        // One address keeps its part of them, and leaves the others theirs.
        connectionsPerClient: affordableConnections(limits.connectionsPerClient, plan, budget),
      }
    }
  }

  #reportDescriptors(plan: Plan): void {
    const budget = divideDescriptors(this.#descriptors, plan)
    SPILL_FILES.most = budget.bodies
    for (const { address, limits } of plan.listeners) {
      const connections = affordableConnections(limits.connections, plan, budget)
      if (connections === limits.connections) continue
      const remedy = 'raise the limit of open files (ulimit -n, LimitNOFILE) or lower limits.connections'
      this.#options.report('connections_lowered', {
        listener: address,
        wanted: limits.connections,
        connections,
        descriptors: this.#descriptors,
        remedy,
      })
    }
  }

  setReady(isReady: boolean): void {
    this.#gate.isReady = isReady
    if (!isReady) this.#announceEnd()
  }

  onLoopDelay(lateMs: number): void {
    this.#admission.onLoopDelay(lateMs)
  }

  setTargets({ outages, services }: TargetFacts): void {
    this.#network.services?.set(services)
    this.#outages.set(outages)
    for (const upstream of this.#upstreams()) this.#outages.applyTo(upstream)
  }

  /** Those that are not closed, also of a bundle that is only prepared. */
  #upstreams(): Upstream[] {
    return [...this.#shared.values()].filter((value) => value instanceof Upstream)
  }

  samples(): Sample[] {
    return [
      { name: 'gw_requests_in_flight', labels: '', value: this.inFlight },
      { name: 'gw_connections', labels: '', value: this.connections },
      ...this.#context.webSockets.samples(),
      ...this.#context.metrics.samples(),
      ...this.#admission.samples(this.#options.worker),
      ...serverSamples(this.#shared),
      ...[...(this.#snapshot?.upstreams.values() ?? [])].flatMap(stateSamples),
      ...this.responses.samples(),
      ...this.#upstreamSamples.merged(this.#upstreams().map(upstreamSamples)),
    ]
  }

  /** Requests and WebSockets: what a drain waits for. */
  get #underWay(): number {
    return this.inFlight + this.#context.webSockets.open
  }

  /** An upstream may come back, or take another's name: its counters go on from here. */
  #closeShared(value: unknown): void {
    if (value instanceof ValkeyStore) value.close()
    if (value instanceof OutboundPool) void value.close()
    this.responses.depart(value)
    if (!(value instanceof Upstream)) return
    this.#upstreamSamples.depart(upstreamSamples(value).filter((sample) => sample.value > 0))
    void value.close()
  }

  logIdentity(): LogIdentity {
    return this.#log.identity()
  }

  /** Clients learn that their connections end as early as load balancers do, and have the whole delay to make others. */
  #announceEnd(): void {
    this.#context.isLeaving = true
    for (const listener of this.#allListeners()) listener.announceEnd()
  }

  #allListeners(): Listener[] {
    return [...this.#listeners.values(), ...this.#coming].map(({ listener }) => listener)
  }

  async drain(deadlineMs: number): Promise<number> {
    this.#drainUntilMono = Math.min(this.#drainUntilMono, performance.now() + deadlineMs)
    this.#announceEnd()
    this.#context.isDraining = true
    this.#gate.drain()
    const listeners = this.#allListeners()
    for (const listener of listeners) listener.close()
    this.#context.webSockets.closeExcept(NO_ROUTES)
    await waitForRequests(
      () => this.#underWay,
      () => this.#drainUntilMono,
    )
    const cut = this.#underWay
    this.#context.isCutting = true
    for (const listener of listeners) listener.terminate()
    this.#context.webSockets.destroy()
    // What policies hold of shared limits goes back.
    this.#snapshot?.release()
    // Answers come in turn: behind the first one is what was under way, behind the second what that gave back.
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
