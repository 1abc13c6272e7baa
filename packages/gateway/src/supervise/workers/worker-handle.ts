import { setImmediate as nextTurn } from 'node:timers/promises'
import { packBundle } from '@sluice/config/serving'
import type { LogIdentity } from '@sluice/core'
import type { StateCall, StateResult } from '../../state/state-calls.js'
import type { Sample } from '../../telemetry/sample.js'
import {
  type Answer,
  type FromWorker,
  type HeartbeatMessage,
  NO_TARGET_FACTS,
  type ResponsesQuery,
  type StepTraceSession,
  type TargetFacts,
  type ToWorker,
} from '../../worker/messages.js'
import { ProcessClock, processTimeout } from '../process/process-clock.js'
import type { Assignment, Participant, Refusal } from '../rollout/rollout.js'
import { RouteDelivery } from '../rollout/route-delivery.js'
import { HeartbeatMonitor, SILENCE_MS, type Watched } from './watchdog.js'

/**
 * Deadlines of a worker for each step, in milliseconds. `start`, `prepare`, `activate`, `discard` and `silence` use its
 * process clock, which pauses while it waits for a CPU. So a slow worker on a busy machine is not killed.
 */
export interface WorkerDeadlines {
  /** Time from the fork to the first message, most of it for loading modules. */
  readonly startMs: number
  /** Time to compile a bundle and open its listeners. */
  readonly prepareMs: number
  readonly activateMs: number
  readonly discardMs: number
  /** Longest wait for one worker's metrics. After that, the last known ones are used. */
  readonly samplesMs: number
  /** Time without a heartbeat after which the worker counts as hung and is killed. */
  readonly silenceMs: number
}

/** Default deadlines. Tests use shorter ones. */
export const WORKER_DEADLINES: WorkerDeadlines = {
  startMs: 30_000,
  prepareMs: 15_000,
  activateMs: 5000,
  discardMs: 5000,
  samplesMs: 1000,
  silenceMs: SILENCE_MS,
}

/** The part of a cluster worker that the handle uses. */
export interface WorkerProcess {
  readonly process: { readonly pid?: number | undefined; kill(signal: NodeJS.Signals): boolean }
  isConnected(): boolean
  send(message: ToWorker, sent: () => void): boolean
  on(event: 'message', listener: (message: FromWorker) => void): unknown
  on(event: 'error', listener: () => void): unknown
  once(event: 'exit', listener: (code: number | null, signal: string | null) => void): unknown
  once(event: 'disconnect', listener: () => void): unknown
}

/** Exit of a worker process. */
export interface Exit {
  readonly code: number | null
  readonly signal: string | null
  readonly ageMs: number
}

/** A worker's answer about its stored responses. */
export type ResponsesAnswer = Pick<Extract<Answer, { kind: 'responses' }>, 'purged' | 'found'>

/** Numbers of requests that a worker did not trace, by session. */
export type StepTraceLosses = Extract<Answer, { kind: 'step-traces' }>['lost']

/** A request without its id, which the handle adds. */
type Unnumbered<T> = T extends { readonly id: number } ? Omit<T, 'id'> : never
type WorkerRequest = Unnumbered<Exclude<ToWorker, { kind: 'state' }>>
type Numbered<T> = T & { readonly id: number }

/** Time in milliseconds that a drain may take beyond its deadline, to write the traffic log and answer. */
export const DRAIN_GRACE_MS = 8000

/**
 * Requests whose deadline uses the wall clock: neither a scrape nor a shutdown waits for a starved worker.
 */
const WALL_CLOCK_REQUESTS: ReadonlySet<WorkerRequest['kind']> = new Set([
  'samples',
  'targets',
  'responses',
  'step-traces',
  'drain',
])

/** Time limit for reading a dead process's channel. It is a local pipe, so this is never reached. */
const FINAL_MESSAGES_MS = 500

/** The supervisor's side of one worker process. Every request is settled, at the latest by its deadline. */
export class WorkerHandle implements Participant, Watched {
  /** Worker number, from 1 to N; 0 for a spare. */
  worker = 0
  readonly pid: number
  readonly exited: Promise<Exit>
  /** Epoch of the active bundle; 0 before the first. */
  epoch = 0
  /** Digest of the active bundle, as reported by the worker. */
  digest: string | null = null
  isReady = false
  lastBeat: HeartbeatMessage | null = null
  lastSamples: readonly Sample[] = []
  lastLog: LogIdentity | null = null
  /** Executes the worker's calls of the shared state store. */
  answerState: (calls: readonly StateCall[]) => StateResult[] = () => []
  /** Called with URIs changed by this worker's requests, which other workers may have stored. */
  onChanged: (uris: readonly string[]) => void = () => {}
  /** Called with each traced request, as JSON. */
  onStepTrace: (session: number, trace: string) => void = () => {}
  /** Reason why the supervisor killed it, or null. */
  killReason: string | null = null

  readonly #process: WorkerProcess
  readonly #deadlines: WorkerDeadlines
  readonly #secret: Uint8Array
  readonly #startedMono = performance.now()
  /** Requests not answered yet, by id. Each has a deadline, which bounds their number. */
  readonly #requests = new Map<number, (answer: Answer) => void>()
  readonly #routes = new RouteDelivery()
  /**
   * Resolves when the next routes are sent; null when no bundle is being sent. Bundles are sent one at a
   * time.
   */
  #sending: Promise<void> | null = null
  #lastId = 0
  #ticketSecret: Uint8Array | null = null
  #targets = NO_TARGET_FACTS
  #stepTraces: readonly StepTraceSession[] = []
  readonly #clock: ProcessClock
  readonly #heartbeat: HeartbeatMonitor
  /** Plugin code being run during `prepare`, or null. */
  #pluginCode: string | null = null
  #isUp = false
  /** Exit reason; null while the process runs. No requests are sent once it is set. */
  #endReason: string | null = null
  #greet: (isUp: boolean) => void = () => {}
  readonly #greeting = new Promise<boolean>((resolve) => {
    this.#greet = resolve
  })

  /** @param secret shared by all workers, see StateStores. */
  constructor(process: WorkerProcess, deadlines: WorkerDeadlines, secret: Uint8Array) {
    this.pid = process.process.pid ?? 0
    this.#process = process
    this.#deadlines = deadlines
    this.#secret = secret
    this.#clock = new ProcessClock(this.pid)
    this.#heartbeat = new HeartbeatMonitor(this.#clock, deadlines.silenceMs)
    process.on('message', (message: FromWorker) => this.#onMessage(message))
    // Sending to a process that has just died fails here. Its exit follows and settles everything.
    process.on('error', () => {})
    this.exited = new Promise((resolve) => {
      process.once('exit', (code, signal) => {
        this.#whenRead(() => resolve(this.#onExit(code, signal)))
      })
    })
  }

  get ageMs(): number {
    return performance.now() - this.#startedMono
  }

  /** Assigns the worker number to the process. Call it once, before any other request. */
  assignNumber(worker: number): void {
    this.worker = worker
    if (!this.#isUp) return
    this.#send({ kind: 'identity', worker, secret: this.#secret })
    if (this.#targets !== NO_TARGET_FACTS) void this.#askTargets()
    if (this.#stepTraces.length > 0) void this.setStepTraces(this.#stepTraces)
  }

  /** Replaces the secret of session tickets. */
  setTicketSecret(secret: Uint8Array): void {
    this.#ticketSecret = secret
    if (this.#isUp) this.#send({ kind: 'tickets', secret })
  }

  /**
   * Sends the target states. Resolves when the worker has applied them, or after a timeout. The worker has
   * them before it serves.
   */
  async setTargets(targets: TargetFacts): Promise<void> {
    this.#targets = targets
    if (this.#isUp && this.worker !== 0) await this.#askTargets()
  }

  #askTargets(): Promise<Answer> {
    return this.#ask({ kind: 'targets', ...this.#targets }, this.#deadlines.samplesMs)
  }

  /**
   * Queries or purges the worker's stored responses. Returns null if it did not answer in time; it still
   * executes the request. A spare stores no responses.
   */
  async queryResponses(what: ResponsesQuery): Promise<ResponsesAnswer | null> {
    if (!this.#isUp || this.worker === 0) return { purged: 0, found: [] }
    const answer = await this.#ask({ kind: 'responses', what }, this.#deadlines.samplesMs)
    return answer.kind === 'responses' ? answer : null
  }

  /**
   * Sets the open step traces. Resolves when the worker has applied them, with the number of lost requests of each
   * session that ended, or null if it did not answer in time.
   */
  async setStepTraces(sessions: readonly StepTraceSession[]): Promise<StepTraceLosses | null> {
    this.#stepTraces = sessions
    if (!this.#isUp || this.worker === 0) return []
    const answer = await this.#ask({ kind: 'step-traces', sessions }, this.#deadlines.samplesMs)
    return answer.kind === 'step-traces' ? answer.lost : null
  }

  /** Announces changes made by requests of other workers. A spare stores no responses. */
  tellChanged(uris: readonly string[]): void {
    if (this.#isUp && this.worker !== 0) this.#send({ kind: 'changed', uris })
  }

  /** Waits for the first message. On a timeout the worker is killed, and the result is false. */
  async started(): Promise<boolean> {
    const { startMs } = this.#deadlines
    const stop = processTimeout(this.#clock, startMs, () => this.kill(`not started within ${startMs} ms`))
    const isUp = await this.#greeting
    stop()
    return isUp
  }

  async prepare({ epoch, bundle: whole, ports }: Assignment): Promise<Refusal> {
    while (this.#sending !== null) await this.#sending
    const { routeTexts = [], ...bundle } = packBundle(whole)
    const { numbers, parts, forgotten } = this.#routes.deliver(routeTexts)
    for (const routes of parts) {
      if (routes !== parts[0]) {
        this.#sending = nextTurn()
        await this.#sending
      }
      this.#send({ kind: 'routes', routes })
    }
    this.#sending = null
    const request = { kind: 'prepare', epoch, bundle, ports, routes: numbers, forgotten } as const
    return refusalOf(await this.#ask(request, this.#deadlines.prepareMs))
  }

  async activate(epoch: number): Promise<Refusal> {
    const answer = await this.#ask({ kind: 'activate', epoch }, this.#deadlines.activateMs)
    if (answer.kind !== 'activated') return refusalOf(answer)
    this.epoch = epoch
    this.digest = answer.digest
    this.#routes.activated()
    return null
  }

  async discard(epoch: number): Promise<Refusal> {
    return refusalOf(await this.#ask({ kind: 'discard', epoch }, this.#deadlines.discardMs))
  }

  setReady(isReady: boolean): void {
    this.isReady = isReady
    this.#send({ kind: 'ready', isReady })
  }

  /** Updates `lastSamples`, unless the worker does not answer in time. A spare has no metrics. */
  async sample(): Promise<void> {
    if (this.worker === 0) return
    await this.#ask({ kind: 'samples' }, this.#deadlines.samplesMs)
  }

  /**
   * Asks the worker to finish its requests and exit. Resolves with the number of requests cut; for a killed
   * worker, the number in flight at its last heartbeat.
   */
  async drain(deadlineMs: number, isReplaced = false): Promise<number> {
    this.isReady = false
    if (!this.#isUp) this.kill('drained before it was started')
    const allowedMs = deadlineMs + DRAIN_GRACE_MS
    const answer = await this.#ask({ kind: 'drain', deadlineMs, isReplaced }, allowedMs)
    // The deadline also covers a worker that answers but does not exit.
    const timer = setTimeout(
      () => this.kill(`did not exit within ${allowedMs} ms of a drain`),
      DRAIN_GRACE_MS,
    )
    if (answer.kind !== 'drained') this.kill(answer.kind === 'failed' ? answer.reason : 'drain failed')
    await this.exited
    clearTimeout(timer)
    return answer.kind === 'drained' ? answer.cut : (this.lastBeat?.inFlight ?? 0)
  }

  /** Ends the current drain immediately. */
  cut(): void {
    this.#send({ kind: 'cut' })
  }

  /** Kills the process. SIGKILL also ends a process that is stopped or whose event loop hangs. */
  kill(reason: string): void {
    if (this.#endReason !== null) return
    this.killReason ??= this.#withPluginCode(reason)
    this.isReady = false
    this.#process.process.kill('SIGKILL')
  }

  /** Returns true if the worker is silent. Before the first message, `started` keeps the deadline. */
  isSilent(): boolean {
    return this.#isUp && this.#heartbeat.isSilent()
  }

  askHeartbeat(): void {
    if (this.#isUp && this.#heartbeat.isQuiet) this.#send({ kind: 'beat' })
  }

  #ask(request: WorkerRequest, deadlineMs: number): Promise<Answer> {
    const id = ++this.#lastId
    if (this.#endReason !== null) return Promise.resolve({ kind: 'failed', id, reason: this.#endReason })
    return new Promise((resolve) => {
      const expire = (): void => {
        const reason = this.#withPluginCode(`no answer to ${request.kind} within ${deadlineMs} ms`)
        this.#settle({ kind: 'failed', id, reason })
      }
      const stop = WALL_CLOCK_REQUESTS.has(request.kind)
        ? timeout(deadlineMs, expire)
        : processTimeout(this.#clock, deadlineMs, expire)
      this.#requests.set(id, (answer) => {
        stop()
        resolve(answer)
      })
      const message: Numbered<WorkerRequest> = { ...request, id }
      this.#send(message)
    })
  }

  #send(message: ToWorker): void {
    // A closed channel reports an error through the callback. The exit that follows settles every request.
    if (this.#process.isConnected()) this.#process.send(message, () => {})
  }

  #onMessage(message: FromWorker): void {
    this.#heartbeat.seen()
    if (message.kind === 'hello') {
      this.#isUp = true
      // Messages sent before the first one are lost, because the process does not listen yet.
      if (this.#ticketSecret !== null) this.setTicketSecret(this.#ticketSecret)
      if (this.worker !== 0) this.assignNumber(this.worker)
      this.#greet(true)
      return
    }
    if (message.kind === 'plugin-code') {
      this.#pluginCode = message.what
      return
    }
    if (message.kind === 'heartbeat') {
      this.lastBeat = message
      this.lastLog = message.log
      return
    }
    if (message.kind === 'state') {
      this.#send({ kind: 'state', id: message.id, results: this.answerState(message.calls) })
      return
    }
    if (message.kind === 'changed') {
      this.onChanged(message.uris)
      return
    }
    if (message.kind === 'step-trace') {
      this.onStepTrace(message.session, message.trace)
      return
    }
    if (message.kind === 'prepared' || message.kind === 'failed') this.#pluginCode = null
    if (message.kind === 'samples' || message.kind === 'drained') this.lastSamples = message.samples
    if (message.kind === 'drained') this.lastLog = message.log
    this.#settle(message)
  }

  #withPluginCode(reason: string): string {
    return this.#pluginCode === null ? reason : `${reason}; it was ${this.#pluginCode}`
  }

  #settle(answer: Answer): void {
    const resolve = this.#requests.get(answer.id)
    this.#requests.delete(answer.id)
    resolve?.(answer)
  }

  /**
   * Waits until the channel is read: an exit may be reported before the final messages have arrived, and they
   * count.
   */
  #whenRead(then: () => void): void {
    if (!this.#process.isConnected()) {
      then()
      return
    }
    const timer = setTimeout(then, FINAL_MESSAGES_MS)
    this.#process.once('disconnect', () => {
      clearTimeout(timer)
      then()
    })
  }

  #onExit(code: number | null, signal: string | null): Exit {
    this.isReady = false
    const exit: Exit = { code, signal, ageMs: this.ageMs }
    this.#greet(false)
    const reason = this.killReason ?? exitText(exit)
    this.#endReason = reason
    for (const id of [...this.#requests.keys()]) this.#settle({ kind: 'failed', id, reason })
    return exit
  }
}

/** Formats an exit: `exited with code 1` or `killed by SIGKILL`. */
export function exitText(exit: Pick<Exit, 'code' | 'signal'>): string {
  return exit.signal === null ? `exited with code ${exit.code}` : `killed by ${exit.signal}`
}

function timeout(ms: number, expire: () => void): () => void {
  const timer = setTimeout(expire, ms)
  return () => clearTimeout(timer)
}

function refusalOf(answer: Answer): Refusal {
  return answer.kind === 'failed' ? answer.reason : null
}
