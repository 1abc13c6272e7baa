import { randomBytes } from 'node:crypto'
import type { ConfigBundle, ListenerPlan, Plan } from '@sluice/config'
import { loadPlannedPolicies, resolvePlan } from '@sluice/config'
import {
  type Catalog,
  type Consumer,
  EMPTY_LOG,
  type Exchange,
  type LogSink,
  MemoryStore,
  NO_ROUTE,
  type Policy,
  RequestIds,
} from '@sluice/core'
import { compileSnapshot, type Snapshot } from '../compile/snapshot.js'
import { type ExplainedRequest, listenerFor, targetOf } from '../explain/arrival.js'
import type { PipelineContext } from '../flow/context.js'
import { CachedClock } from '../lib/cached-clock.js'
import { SharedTable } from '../lib/shared-table.js'
import { ThreadPool } from '../lib/threads/thread-pool.js'
import { TimerWheel } from '../lib/timer-wheel.js'
import type { Listener, RequestHandler } from '../listen/listener.js'
import { PluginTable } from '../plugins/plugin-table.js'
import { WebSockets } from '../protocol/websocket/websockets.js'
import { NO_HEARTBEAT } from '../telemetry/heartbeat.js'
import { Metrics } from '../telemetry/metrics.js'
import { startTracing } from '../tracing/tracing.js'
import { OutboundPool } from '../upstream/outbound/outbound-pool.js'
import { systemNetwork } from '../upstream/transport/network.js'
import { Upstream } from '../upstream/upstream.js'
import { Admission } from '../worker/admission/admission.js'
import { settingsWithin } from '../worker/listener-settings.js'
import { createListener } from '../worker/open-listener.js'
import { RequestDispatcher } from '../worker/request-dispatcher.js'
import type { ShownStep, StepMask } from '../worker/step-trace.js'
import { FakeClock } from './fake-clock.js'
import { type FakeBehaviour, FakeServers } from './fake-servers.js'
import { NetworkGuard } from './network-guard.js'
import { routePrediction } from './route-prediction.js'
import { requestOnce, type TrialRequest, type TrialResponse } from './trial-client.js'
import { trialPlan, withPoliciesOf } from './trial-plan.js'

/** Result of a request: the response, and what happened to it in the gateway. */
export interface TrialResult {
  readonly response: TrialResponse
  /** Finished exchange, or null if the gateway did not receive a request head. */
  readonly x: Exchange | null
  /** Route, or null if no route matches. */
  readonly route: string | null
  /** Runs of policies in their order. */
  readonly steps: readonly Pick<ShownStep, 'policy' | 'use' | 'outcome' | 'note'>[]
}

/** Options for `TrialWorker.open`. */
export interface TrialWorkerOptions {
  readonly catalog: Catalog
  /** Called with each exchange that the traffic log would record. */
  readonly onRecord: (x: Exchange) => void
  /** Called with problems that a gateway would report to its operator. */
  readonly report: (event: string, fields: object) => void
}

/** Maximum number of threads for work on large bodies. */
const MAX_THREADS = 1
const DESCRIPTORS = 65_536
/** Masks nothing: traces of a trial do not leave the process. */
const NO_MASK: StepMask = {
  header: (_, value) => value,
  query: (query) => query,
  variable: (_, value) => value,
  body: () => null,
}

/**
 * The part of a worker that serves traffic, with a fake clock and fake servers. All requests pass through a real
 * listener, router, chain and upstream connection. While it is open, the process has no other network and no other time.
 *
 *     open ─► begin ─► send, clock.advance … ─► begin, for the next case with fresh state … ─► close
 */
export class TrialWorker {
  readonly clock = new FakeClock()
  readonly guard = new NetworkGuard()
  readonly servers = new FakeServers(this.clock, this.guard)
  readonly #options: TrialWorkerOptions
  readonly #bundle: ConfigBundle
  readonly #threads = new ThreadPool(MAX_THREADS, () => {})
  readonly #plugins = new PluginTable({ worker: 0, announce: async () => {} })
  readonly #context: PipelineContext
  readonly #admission = new Admission()
  readonly #dispatcher: RequestDispatcher
  readonly #ids = new RequestIds()
  /** Listeners by their plan in the document. */
  readonly #listeners = new Map<ListenerPlan, Listener>()
  readonly #consumers = new WeakMap<Exchange, Consumer>()
  #shared = new SharedTable(closeShared)
  #plan: Plan
  #catalog: Catalog
  #predict: (request: ExplainedRequest) => string | null = () => null
  #snapshot: Snapshot | null = null
  #steps: TrialResult['steps'] = []
  #sent: { readonly request: TrialRequest; readonly isSecure: boolean; x: Exchange | null } | null = null

  private constructor(bundle: ConfigBundle, options: TrialWorkerOptions) {
    this.#bundle = bundle
    this.#options = options
    this.#plan = trialPlan(resolvePlan(bundle))
    this.#catalog = options.catalog
    this.#context = {
      wheel: new TimerWheel(),
      clock: new CachedClock(),
      metrics: new Metrics(),
      log: recordSink(options.onRecord),
      tracing: startTracing(this.#plan.tracing),
      heartbeat: NO_HEARTBEAT,
      report: options.report,
      loopLagMs: () => 0,
      inFlight: 0,
      webSockets: new WebSockets(),
      isLeaving: false,
      isDraining: false,
      isCutting: false,
    }
    this.#dispatcher = new RequestDispatcher(this.#context, this.#admission)
  }

  /** Opens the listeners. @throws Error if a policy or plugin cannot be loaded. */
  static async open(bundle: ConfigBundle, options: TrialWorkerOptions): Promise<TrialWorker> {
    const worker = new TrialWorker(bundle, options)
    try {
      await worker.#open()
      return worker
    } catch (error) {
      await worker.close()
      throw error
    }
  }

  async #open(): Promise<void> {
    const plan = this.#plan
    await this.servers.open()
    await loadPlannedPolicies(plan, this.#options.catalog)
    const catalog = await this.#plugins.extend(this.#options.catalog, plan.plugins)
    this.#catalog = withAssumedConsumers(catalog, this.#consumers)
    this.#predict = routePrediction(plan, this.#catalog)
    this.#admission.configure(plan.overload)
    const settings = settingsWithin(plan, DESCRIPTORS)
    const onFault = (error: unknown): void => this.#options.report('listener_fault', { error: String(error) })
    for (const [i, listener] of plan.listeners.entries()) {
      const { wheel, clock } = this.#context
      const opened = createListener({
        ...{ plan: listener, port: 0, settings: settings(listener), handler: this.#handler, ids: this.#ids },
        ...{ clock, wheel, onFault, onRejected: () => {}, onRenewal: () => {} },
      })
      await opened.open()
      this.guard.allow(opened.port)
      this.#listeners.set(this.#bundle.plan.listeners[i]!, opened)
    }
    this.#dispatcher.isReady = true
    this.#dispatcher.setStepTraces([{ id: 1, route: null, when: null, count: Number.MAX_SAFE_INTEGER }], {
      worker: 1,
      log: { served: () => ({ plan, mask: NO_MASK }) },
      send: (_, trace) => {
        this.#steps = (JSON.parse(trace) as { readonly steps: TrialResult['steps'] }).steps
        return true
      },
    })
  }

  /**
   * Begins a case: limits, caches, breakers and all other state are fresh.
   * @param requests requests whose routes are compiled with their policies; null for all routes.
   */
  async begin(
    behaviour: FakeBehaviour,
    dateMs: number | null,
    requests: readonly ExplainedRequest[] | null,
  ): Promise<void> {
    this.#end()
    this.servers.behaviour = behaviour
    this.clock.setDate(dateMs)
    const routes = requests?.map(this.#predict).filter((route) => route !== null)
    const plan =
      routes === undefined ? this.#plan : withPoliciesOf(this.#plan, new Set(routes), this.#catalog)
    this.#snapshot = await compileSnapshot(plan, this.#bundle.digest, {
      catalog: this.#catalog,
      shared: this.#shared,
      threads: this.#threads,
      memory: new MemoryStore(),
      secret: randomBytes(32),
      context: this.#context,
      network: { ...systemNetwork(), openSocket: this.servers.openSocket },
      values: this.#bundle.values,
    })
    this.#dispatcher.serve(this.#snapshot)
  }

  /** Returns the route that a request would have, or null. */
  routeOf(request: ExplainedRequest): string | null {
    return this.#predict(request)
  }

  /** Sends a request and waits until the gateway has finished it. */
  async send(request: TrialRequest): Promise<TrialResult> {
    const target = targetOf(request.url)
    const plan = listenerFor(this.#bundle.plan, target)
    this.#sent = { request, isSecure: plan.tls !== null, x: null }
    this.#steps = []
    const response = await requestOnce(request, this.#listeners.get(plan)!.port, {
      path: target.query === null ? target.path : `${target.path}?${target.query}`,
      host: target.authority ?? plan.address.replace(/:0$/, ''),
    })
    // The gateway writes the record and the trace after the response.
    do await new Promise((resolve) => setImmediate(resolve))
    while (this.#context.inFlight > 0 && response.error === null)
    await new Promise((resolve) => setImmediate(resolve))
    const { x } = this.#sent
    return { response, x, route: routeIdOf(x), steps: this.#steps }
  }

  /** Restores the clock and the network of the process. */
  async close(): Promise<void> {
    this.#end()
    for (const listener of this.#listeners.values()) listener.terminate()
    this.servers.close()
    this.#context.wheel.close()
    this.#plugins.close()
    await this.#threads.close()
    this.guard.close()
    this.clock.close()
  }

  #end(): void {
    this.#snapshot?.release()
    this.#snapshot = null
    this.#shared.clear()
    this.#shared = new SharedTable(closeShared)
  }

  readonly #handler: RequestHandler = {
    accept: (x, client, settings) => {
      this.#note(x)
      this.#dispatcher.accept(x, client, settings)
    },
    refuse: (x, client, reply) => {
      this.#note(x)
      this.#dispatcher.refuse(x, client, reply)
    },
  }

  /** Adds to a received request what its connection would have told the listener. */
  #note(x: Exchange): void {
    const sent = this.#sent
    if (sent === null) return
    const { consumer, clientCertificate = null } = sent.request
    sent.x = x
    const received = x as { -readonly [K in 'scheme' | 'clientCertificate']: Exchange[K] }
    if (sent.isSecure) received.scheme = 'https'
    received.clientCertificate = clientCertificate
    if (consumer !== undefined) this.#consumers.set(x, consumer)
  }
}

function routeIdOf(x: Exchange | null): string | null {
  return x === null || x.routeId === NO_ROUTE.id ? null : x.routeId
}

/** Returns a catalog whose authenticating policies accept requests with an assumed consumer. */
function withAssumedConsumers(catalog: Catalog, consumers: WeakMap<Exchange, Consumer>): Catalog {
  const policies = [...catalog].map(([name, policy]): [string, Policy] => {
    if (policy.authenticates === undefined) return [name, policy]
    const compile: Policy['compile'] = async (config, env, use) => {
      const step = await policy.compile(config, env, use)
      if (step === null || policy.authenticates!(config) === null) return step
      const { onRequest, onRequestBody } = step
      const assumed = (x: Exchange): boolean => {
        const consumer = consumers.get(x)
        if (consumer !== undefined) x.identify(consumer)
        return consumer !== undefined
      }
      return Object.assign(Object.create(step) as typeof step, {
        ...(onRequest && { onRequest: (x: Exchange) => (assumed(x) ? null : onRequest.call(step, x)) }),
        ...(onRequestBody && {
          onRequestBody: (x: Exchange, body: Uint8Array) =>
            assumed(x) ? null : onRequestBody.call(step, x, body),
        }),
      })
    }
    return [name, { ...policy, compile }]
  })
  const { load: _, ...rest } = catalog
  return Object.assign(new Map(policies), rest)
}

function recordSink(record: (x: Exchange) => void): LogSink {
  return {
    opened: Promise.resolve(),
    announce: () => {},
    record,
    identity: () => ({ ...EMPTY_LOG }),
    close: async () => {},
  }
}

function closeShared(value: unknown): void {
  if (value instanceof Upstream || value instanceof OutboundPool) void value.close()
}
