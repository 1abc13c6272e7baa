import type { DocumentSource, Plan } from '@sluice/config'
import { type LogIdentity, messageOf } from '@sluice/core'
import { memorySamples } from '../state/state-samples.js'
import type { Sample } from '../telemetry/sample.js'
import { type MetricsFormat, renderSamples } from '../telemetry/text-format.js'
import type { ResponsesQuery } from '../worker/messages.js'
import type { AdminBackend, WriteRequest } from './admin-backend.js'
import { EmbeddedCacheServer } from './cache-server/embedded-cache-server.js'
import { ControllerLink } from './control/controller-link.js'
import { serveFirstDocument } from './first-document.js'
import { type Endpoints, Fleet } from './fleet.js'
import { type DrainRequest, TargetStates, type TargetStatus } from './health/target-states.js'
import { Bans } from './limits/bans.js'
import { LimitCounters } from './limits/limit-counters.js'
import { OperatorStores } from './limits/operator-stores.js'
import { PersistentMemory } from './limits/persistent-memory.js'
import { CertificateWatch } from './listeners/certificate-watch.js'
import { ListenerPorts } from './listeners/listener-ports.js'
import { notifyParent, replacedPid } from './parent/parent-link.js'
import { RecordSearch } from './records/record-search.js'
import type { ApplyRequest, ApplyResult } from './rollout/apply-result.js'
import { type Deploy, DeployHistory } from './rollout/deploy-history.js'
import { Deployment } from './rollout/deployment.js'
import { DocumentQuestions } from './rollout/document-questions.js'
import { HeldRollout } from './rollout/held-rollout.js'
import { LastGoodFile } from './rollout/last-good.js'
import { Services } from './services/services.js'
import { StartError } from './start-error.js'
import { logSamples } from './status/log-samples.js'
import { METRICS_HELP } from './status/metrics-help.js'
import {
  type Addresses,
  type ListenerStatus,
  listenerStatuses,
  pluginStatuses,
  type SupervisorStatus,
} from './status/status.js'
import { supervisorSamples } from './status/supervisor-samples.js'
import { workerStatuses } from './status/worker-status.js'
import { StepTraces } from './step-traces.js'
import { Succession } from './succession.js'
import type { SupervisorDependencies } from './supervisor-dependencies.js'
import { StateChanges } from './workers/state-changes.js'
import type { ResponsesAnswer } from './workers/worker-handle.js'
import { WorkerPool } from './workers/worker-pool.js'

/** The process that keeps a gateway running. It owns the workers and never handles a request. */
export class Supervisor implements AdminBackend {
  /** Resolves with the exit code when the gateway has stopped: 0 after a drain that cut no requests, otherwise 1. */
  readonly finished: Promise<number>
  readonly #dependencies: SupervisorDependencies
  readonly #endpoints: Endpoints
  readonly #cacheServer: EmbeddedCacheServer
  readonly #ports: ListenerPorts
  readonly #history: DeployHistory
  readonly #lastGood: LastGoodFile
  readonly #pool: WorkerPool
  readonly #memory: PersistentMemory
  readonly limits: LimitCounters
  readonly bans: Bans
  readonly #targets: TargetStates
  readonly #services: Services
  readonly #certificates: CertificateWatch
  readonly #deployment: Deployment
  readonly #controller: ControllerLink
  readonly held = new HeldRollout()
  readonly stepTraces: StepTraces
  readonly succession: Succession
  readonly questions: DocumentQuestions
  readonly records: RecordSearch
  readonly #changes = new StateChanges()
  readonly #startedAt = new Date()
  readonly #startedMono = performance.now()
  #finish: (code: number) => void = () => {}
  #failure: string | null = null
  #isStarted = false
  #isCut = false
  #draining: Promise<number> | null = null
  #ending: Promise<void> | null = null

  constructor(dependencies: SupervisorDependencies) {
    this.#dependencies = dependencies
    const { log, documents } = dependencies
    this.finished = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#history = new DeployHistory(dependencies.dataDir)
    this.#memory = new PersistentMemory(dependencies.quotaPath, log)
    const bundle = () => this.#deployment.current?.bundle ?? null
    const stores = new OperatorStores({ memory: this.#memory, bundle, resolve: documents.resolve, log })
    this.limits = new LimitCounters(stores, log)
    this.bans = new Bans(stores, log)
    this.questions = new DocumentQuestions({ documents, history: this.#history, bundle })
    this.records = new RecordSearch(() => stores.plan()?.log ?? null)
    this.#lastGood = new LastGoodFile(dependencies.dataDir)
    this.#endpoints = dependencies.openEndpoints(this)
    this.#cacheServer = new EmbeddedCacheServer(log, replacedPid() !== null)
    this.#ports = new ListenerPorts((address) => dependencies.fleetFile.formerPort(address))
    this.#pool = new WorkerPool({
      ...dependencies,
      memory: this.#memory,
      onGaveUp: (reason) => this.#giveUp(reason),
      onChanged: () => this.#writeFleet(),
    })
    this.stepTraces = new StepTraces(this.#pool, log)
    const plan = () => bundle()?.plan ?? null
    this.#certificates = new CertificateWatch(plan, log, () => stores.plan())
    this.#services = new Services({ publish: (known) => this.#pool.setServices(known), log })
    this.#targets = new TargetStates({
      publish: (outages) => this.#pool.setOutages(outages),
      drained: dependencies.drainedFile,
      serviceOf: (service) => this.#services.of(service),
      log,
    })
    const fleet = new Fleet({
      ...dependencies,
      pool: this.#pool,
      ports: this.#ports,
      ...this.#endpoints,
      services: this.#services,
      cacheServer: this.#cacheServer,
      resolve: documents.resolve,
      failure: () => this.#failure,
      onServing: (plan) => this.#targets.serve(plan),
    })
    this.#deployment = new Deployment({
      ...dependencies,
      rollOut: fleet.rollOut.bind(fleet),
      lastGood: this.#lastGood,
      history: this.#history,
      save: dependencies.saveDocument,
      group: () => this.#controller.group,
    })
    this.#controller = new ControllerLink({
      ...dependencies,
      supervisor: this,
      deployment: this.#deployment,
      samples: () => this.#pool.samples(),
      onApplied: () => this.#afterApply(),
    })
    this.succession = new Succession({
      ...{ ...dependencies, endpoints: this.#endpoints, cacheServer: this.#cacheServer, ports: this.#ports },
      ...{ memory: this.#memory, controller: this.#controller, deployment: this.#deployment },
      supervisor: this,
    })
  }

  get addresses(): Addresses {
    const { admin, metrics } = this.#endpoints
    return { admin: admin.url, metrics: metrics.url, listeners: this.#listeners() }
  }

  /**
   * Applies the document, or the last valid one if the document is broken.
   * @throws StartError if neither can be applied, or if it is asked to stop before that; everything is stopped then
   */
  async start(): Promise<DocumentSource | null> {
    try {
      await Promise.all([this.#dependencies.fleetFile.takeOver(), this.succession.receive()])
      this.#pool.startEarly(this.#dependencies.earlyWorkers)
      const source = await this.#dependencies.readSource()
      await serveFirstDocument(source, {
        ...this.#dependencies,
        controller: this.#controller,
        lastGood: this.#lastGood,
        apply: (document, request) => this.apply(document, request),
        failure: () => this.#failure,
        untilServing: (deadlineMs) => this.#untilServing(deadlineMs),
      })
      if (!(await this.#pool.allReady()))
        throw new StartError(this.#failure ?? 'the workers did not become ready in time')
      await this.succession.begin()
      this.#isStarted = true
      this.#writeFleet()
      void notifyParent({ state: 'serving', version: this.#dependencies.version })
      this.#controller.connect()
      return source
    } catch (error) {
      this.succession.fail(error)
      if ((await this.#draining) === 0 && !this.succession.isReplaced)
        throw new StartError('the gateway was asked to stop while it was starting', [], true)
      await this.#end(1)
      throw error
    }
  }

  /** Applies a document on all workers or on none. Errors in the document never reject. By default not a dry run. */
  async apply(document: DocumentSource | string, options: Partial<ApplyRequest> = {}): Promise<ApplyResult> {
    const source =
      typeof document === 'string' ? { name: this.#dependencies.documentName, text: document } : document
    const standard = { dryRun: false, ifMatch: null, note: '', origin: 'api', actor: 'local' } as const
    const request = { ...standard, ...options }
    const result = await this.#deployment.apply(source, request)
    this.#afterApply()
    return result
  }

  async #untilServing(deadlineMs?: number): Promise<boolean> {
    const isOver = () => this.#failure !== null || this.#draining !== null || this.#ending !== null
    await this.#changes.until(() => this.#deployment.current !== null || isOver(), deadlineMs)
    return this.#deployment.current !== null
  }

  #afterApply(): void {
    this.#writeFleet()
    this.#changes.notify()
  }

  /**
   * Reads the start document and applies it, or the active bundle of the controller in its place. References are
   * resolved again. Returns the start document.
   * @param changed the start document if it was read already; it then does not replace a bundle.
   * @throws Error if it cannot be read.
   */
  async reload(actor: string, changed: DocumentSource | null = null): Promise<DocumentSource | null> {
    try {
      const source = changed ?? (await this.#dependencies.readSource())
      const [bundle] = await this.#controller.configure(source)
      if (bundle === undefined && source !== null) await this.apply(source, { origin: 'file', actor })
      else if (bundle !== undefined && changed === null)
        await this.apply(bundle, { origin: 'control', actor })
      if (this.#isStarted) this.#controller.connect()
      return source
    } catch (error) {
      const message = messageOf(error)
      this.#deployment.noteUnreadable({ origin: 'file', actor }, message)
      throw error
    }
  }

  async rollback(to: string | null, request: WriteRequest): Promise<ApplyResult | null> {
    const servingDigest = this.#deployment.current?.bundle.digest ?? null
    const target = this.#history.rollbackTarget(to, servingDigest)
    if (target === null) return null
    const { name, text, ...rollback } = target
    const note = request.note === '' ? `rollback to ${target.id}` : request.note
    const result = await this.apply({ name, text }, { ...request, note, rollbackTo: target.id })
    return 'changes' in result ? { ...result, rollback } : result
  }

  status(): SupervisorStatus {
    const current = this.#deployment.current
    const reason = this.#notReadyReason()
    const { admin } = current?.bundle.plan ?? {}
    const { url } = this.#endpoints.admin
    return {
      version: this.#dependencies.version,
      pid: process.pid,
      startedAt: this.#startedAt.toISOString(),
      uptimeMs: Math.round(performance.now() - this.#startedMono),
      digest: current?.bundle.digest ?? null,
      origin: current?.origin ?? null,
      ready: reason === null,
      reason,
      draining: this.#draining !== null,
      workers: workerStatuses(this.#pool),
      listeners: this.#listeners(),
      admin: admin === undefined || url === null ? null : { address: admin.address, url },
      cacheServer: this.#cacheServer.status,
      control: this.#controller.status,
      lastRollout: this.#deployment.lastRollout,
      plugins: pluginStatuses(current?.bundle.plan.plugins ?? []),
      warnings: [...this.#deployment.warnings(), ...this.#certificates.warnings()],
    }
  }

  async plan(): Promise<{ readonly digest: string; readonly plan: Plan } | null> {
    const bundle = this.#deployment.current?.bundle
    if (bundle === undefined) return null
    return { digest: bundle.digest, plan: await this.#dependencies.documents.display(bundle) }
  }

  targetsOf(upstream: string): readonly TargetStatus[] {
    return this.#targets.of(upstream)
  }

  drainTargets(request: DrainRequest): Promise<boolean> {
    return this.#targets.drain(request)
  }

  queryResponses(what: ResponsesQuery): Promise<(ResponsesAnswer | null)[]> {
    return this.#pool.queryResponses(what)
  }

  deploys(): readonly Deploy[] {
    return this.#history.list()
  }

  logIdentity(): LogIdentity {
    return this.#pool.logIdentity()
  }

  async samples(): Promise<readonly Sample[]> {
    const merged = await this.#pool.samples()
    const { counts: rollouts, queueLength } = this.#deployment
    const own = supervisorSamples({ status: this.status(), rollouts, queueLength })
    const { secrets } = this.#dependencies
    const parts = [this.#targets, this.#services, this.#certificates, secrets, this.#endpoints.metricsPush]
    const others = parts.flatMap((part) => part.samples())
    return [...own, ...logSamples(this.logIdentity()), ...others, ...memorySamples(this.#memory), ...merged]
  }

  async metrics(format: MetricsFormat): Promise<string | null> {
    if (this.#deployment.current?.bundle.plan.metrics.enabled === false) return null
    return renderSamples(await this.samples(), METRICS_HELP, format)
  }

  /**
   * Stops the gateway gracefully: readiness turns to 503, load balancers get `delayMs` (default: the plan's) to notice,
   * and requests in flight get the plan's timeout to finish. Resolves with the exit code.
   */
  drain(reason: string, options: { readonly delayMs?: number } = {}): Promise<number> {
    this.#draining ??= this.#drain(reason, options.delayMs)
    this.#changes.notify()
    return this.#draining
  }

  /** Ends the current drain immediately: requests in flight are cut, counted and logged. */
  cut(): void {
    this.#isCut = true
    this.#pool.cut()
    this.#changes.notify()
  }

  /** Stops everything immediately and cuts requests in flight. Resolves when every process has exited. */
  close(exitCode = 0): Promise<void> {
    return this.#end(exitCode)
  }

  async #drain(reason: string, delayMs = this.#drainTimes.delayMs): Promise<number> {
    const { timeoutMs } = this.#drainTimes
    if (this.#isStarted) void notifyParent({ state: 'ending' })
    this.#dependencies.log.info('drain.begun', { reason, delayMs, timeoutMs })
    this.#deployment.close()
    const { isReplaced } = this.succession // health checks must not fail then
    if (!isReplaced) this.#pool.closeGates()
    this.#ports.close() // releases the names: another gateway may use the ports soon
    await this.#changes.until(() => this.#ending !== null || this.#isCut, delayMs)
    const cut = await this.#pool.drain(this.#isCut ? 0 : timeoutMs, isReplaced)
    this.#dependencies.log[cut > 0 ? 'warn' : 'info']('drain.ended', { cutRequests: cut })
    await this.#end(cut > 0 || this.#isCut ? 1 : 0)
    return this.finished
  }

  get #drainTimes(): Plan['drain'] {
    return this.#deployment.current?.bundle.plan.drain ?? { delayMs: 0, timeoutMs: 0 }
  }

  #end(code: number): Promise<void> {
    this.#ending ??= this.#close(code)
    return this.#ending
  }

  async #close(code: number): Promise<void> {
    this.stepTraces.close()
    const { secrets } = this.#dependencies
    this.#controller.close({ isLeaving: this.#draining !== null && !this.succession.isReplaced })
    const first = [this.#deployment, secrets, this.#targets, this.#services]
    for (const part of [...first, this.succession, this.#certificates, this.#ports]) part.close()
    if (this.#isStarted) void notifyParent({ state: 'ending' })
    queueMicrotask(() => this.#changes.notify()) // after `#ending` is set, which a waiting drain checks
    const { admin, metrics, metricsPush } = this.#endpoints
    await Promise.all([this.#pool.close(), admin.close(), metrics.close(), this.succession.hasLeft])
    await metricsPush.close()
    this.#memory.close() // after the workers, which return the quota they did not use
    await this.#cacheServer.close({ isCut: code !== 0 })
    this.#dependencies.fleetFile.remove()
    this.#finish(code)
  }

  /** Handles a slot that cannot be filled: fails the start, or stops a running gateway. */
  #giveUp(reason: string): void {
    this.#failure ??= reason
    this.#changes.notify()
    if (!this.#isStarted) return
    this.#dependencies.log.error('gateway.stopped', { reason })
    void this.#end(1)
  }

  /** Writes the state that the parent and the next supervisor need if this one is killed. */
  #writeFleet(): void {
    if (this.#ending !== null) return
    const { delayMs, timeoutMs } = this.#drainTimes
    const pids = [...this.#pool.live].map(({ pid }) => pid)
    void notifyParent({ state: 'workers', pids, drainMs: delayMs + timeoutMs })
    if (!this.#isStarted) return
    const workers = this.#pool.slots.map(({ handle }) => handle?.pid ?? 0).filter((pid) => pid !== 0)
    const origin = this.#deployment.current?.origin ?? 'file'
    this.#dependencies.fleetFile.serve({ workers, ports: this.#ports.serving, origin })
  }

  #notReadyReason(): string | null {
    if (this.succession.isReplaced) return null
    if (this.#draining !== null || this.#ending !== null) return 'the gateway is draining'
    if (this.#deployment.current === null) return 'no configuration is active yet'
    return this.#pool.readyCount === 0 ? 'no worker is ready' : null
  }

  #listeners(): ListenerStatus[] {
    const plan = this.#deployment.current?.bundle.plan
    return plan === undefined ? [] : listenerStatuses(plan.listeners, this.#ports.serving)
  }
}
