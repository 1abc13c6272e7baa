import { setImmediate as nextTurn } from 'node:timers/promises'
import { packBundle } from '@sluice/config/serving'
import type { LogIdentity } from '@sluice/core'
import type { StateCall, StateResult } from '../state/state-calls.js'
import type { Sample } from '../telemetry/sample.js'
import {
  type Answer,
  type FromWorker,
  type HeartbeatMessage,
  NO_TARGET_FACTS,
  type ResponsesQuestion,
  type TargetFacts,
  type ToWorker,
} from '../worker/messages.js'
import { ProcessClock, processTimeout } from './process-clock.js'
import type { Assignment, Participant, Refusal } from './rollout.js'
import { RouteDelivery } from './route-delivery.js'
import { SILENCE_MS, SignsOfLife, type Watched } from './watchdog.js'

/**
 * Deadlines of a worker for each step, in milliseconds. `start`, `prepare`, `activate`, `discard` and `silence` use its
 * process clock, which pauses while it waits for a CPU. So a slow worker on a busy machine is not killed.
 */
export interface WorkerDeadlines {
  /** From the fork to the first word: loading modules on a busy machine. */
  readonly startMs: number
  /** Compiling a bundle and opening its listeners. */
  readonly prepareMs: number
  readonly activateMs: number
  readonly discardMs: number
  /** A scrape does not wait longer for one worker; its last known numbers are used. */
  readonly samplesMs: number
  /** Without a heartbeat for this long the event loop hangs and the worker is killed. */
  readonly silenceMs: number
}

/** The deadlines of a gateway; tests use shorter ones. */
export const WORKER_DEADLINES: WorkerDeadlines = {
  startMs: 30_000,
  prepareMs: 15_000,
  activateMs: 5000,
  discardMs: 5000,
  samplesMs: 1000,
  silenceMs: SILENCE_MS,
}

/** What the handle needs of a cluster worker. */
export interface WorkerProcess {
  readonly process: { readonly pid?: number | undefined; kill(signal: NodeJS.Signals): boolean }
  isConnected(): boolean
  send(message: ToWorker, sent: () => void): boolean
  on(event: 'message', listener: (message: FromWorker) => void): unknown
  on(event: 'error', listener: () => void): unknown
  once(event: 'exit', listener: (code: number | null, signal: string | null) => void): unknown
  once(event: 'disconnect', listener: () => void): unknown
}

/** How a worker process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: string | null
  readonly ageMs: number
}

/** What a worker says of the responses that it keeps. */
export type ResponsesAnswer = Pick<Extract<Answer, { kind: 'responses' }>, 'purged' | 'found'>

/** A question without its number; the handle numbers it. */
type Unnumbered<T> = T extends { readonly id: number } ? Omit<T, 'id'> : never
type Question = Unnumbered<Exclude<ToWorker, { kind: 'state' }>>
type Numbered<T> = T & { readonly id: number }

/** What a drain may take beyond the worker's own deadline: writing out the traffic log and the way back. */
export const DRAIN_GRACE_MS = 8000

/** Questions with a deadline of the clock on the wall: a scrape does not wait for a CPU, nor does the end of the gateway. */
const IMPATIENT: ReadonlySet<Question['kind']> = new Set(['samples', 'targets', 'responses', 'drain'])

/** What reading the rest of a dead process's channel may take; it is a local pipe, so this is never reached. */
const LAST_WORDS_MS = 500

/** The supervisor's end of one worker process. Everything asked is answered, at the latest by its deadline. */
export class WorkerHandle implements Participant, Watched {
  /** 1 to N; 0 for a spare. */
  worker = 0
  readonly pid: number
  readonly exited: Promise<Exit>
  /** The bundle that serves, by its epoch; 0 before the first. */
  epoch = 0
  /** The digest of that bundle, as the worker reported it. */
  digest: string | null = null
  isReady = false
  lastBeat: HeartbeatMessage | null = null
  lastSamples: readonly Sample[] = []
  lastLog: LogIdentity | null = null
  /** Answers the worker's calls of the store that all share. */
  answerState: (calls: readonly StateCall[]) => StateResult[] = () => []
  /** Hears at which URIs its requests have changed something that other workers may keep. */
  onChanged: (uris: readonly string[]) => void = () => {}
  /** Why the supervisor ended it; null while it lives or when it ended by itself. */
  killReason: string | null = null

  readonly #process: WorkerProcess
  readonly #deadlines: WorkerDeadlines
  readonly #secret: Uint8Array
  readonly #startedMono = performance.now()
  /** Questions not answered yet; each has a deadline, so there are never more than were asked within one. */
  readonly #questions = new Map<number, (answer: Answer) => void>()
  readonly #routes = new RouteDelivery()
  /** Resolves when more routes are sent; null: no bundle is being sent. Each is sent as a whole before the next. */
  #sending: Promise<void> | null = null
  #lastId = 0
  #targets = NO_TARGET_FACTS
  readonly #clock: ProcessClock
  readonly #signs: SignsOfLife
  /** What code of a plugin it was about to run while it prepares; null when it is not. */
  #doing: string | null = null
  #isUp = false
  /** Set once the process has ended; nothing is asked of it any more. */
  #endReason: string | null = null
  #greet: (isUp: boolean) => void = () => {}
  readonly #greeting = new Promise<boolean>((resolve) => {
    this.#greet = resolve
  })

  /** @param secret that all workers have, see StateStores. */
  constructor(process: WorkerProcess, deadlines: WorkerDeadlines, secret: Uint8Array) {
    this.pid = process.process.pid ?? 0
    this.#process = process
    this.#deadlines = deadlines
    this.#secret = secret
    this.#clock = new ProcessClock(this.pid)
    this.#signs = new SignsOfLife(this.#clock, deadlines.silenceMs)
    process.on('message', (message: FromWorker) => this.#hear(message))
    // A send to a process that has just died; its exit, which follows, says everything.
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

  /** Says to the process which worker it is; once, before anything else is asked of it. */
  seat(worker: number): void {
    this.worker = worker
    if (!this.#isUp) return
    this.#send({ kind: 'seat', worker, secret: this.#secret })
    if (this.#targets !== NO_TARGET_FACTS) void this.#askTargets()
  }

  /** Resolves when the worker has taken it over, or did not answer in time. It knows it before it serves. */
  async setTargets(targets: TargetFacts): Promise<void> {
    this.#targets = targets
    if (this.#isUp && this.worker !== 0) await this.#askTargets()
  }

  #askTargets(): Promise<Answer> {
    return this.#ask({ kind: 'targets', ...this.#targets }, this.#deadlines.samplesMs)
  }

  /** Null: it did not answer in time, and does what it was asked to when it can. A spare keeps no responses. */
  async askResponses(what: ResponsesQuestion): Promise<ResponsesAnswer | null> {
    if (!this.#isUp || this.worker === 0) return { purged: 0, found: [] }
    const answer = await this.#ask({ kind: 'responses', what }, this.#deadlines.samplesMs)
    return answer.kind === 'responses' ? answer : null
  }

  /** Requests of another worker have changed something. A spare keeps no responses. */
  tellChanged(uris: readonly string[]): void {
    if (this.#isUp && this.worker !== 0) this.#send({ kind: 'changed', uris })
  }

  /** Waits for the first word. A worker that does not get so far is killed, and false is the answer. */
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
    const question = { kind: 'prepare', epoch, bundle, ports, routes: numbers, forgotten } as const
    return refusalOf(await this.#ask(question, this.#deadlines.prepareMs))
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

  /** Renews `lastSamples`, unless the worker does not answer in time. A spare has none, and answers no question. */
  async sample(): Promise<void> {
    if (this.worker === 0) return
    await this.#ask({ kind: 'samples' }, this.#deadlines.samplesMs)
  }

  /**
   * Asks the worker to finish its requests and end; resolves with the requests cut. Of one
   * that had to be killed these are those of its last heartbeat.
   */
  async drain(deadlineMs: number): Promise<number> {
    this.isReady = false
    if (!this.#isUp) this.kill('drained before it had started')
    const allowedMs = deadlineMs + DRAIN_GRACE_MS
    const answer = await this.#ask({ kind: 'drain', deadlineMs }, allowedMs)
    // The deadline also covers a worker that has answered and then does not end.
    const timer = setTimeout(() => this.kill(`not ended within ${allowedMs} ms of a drain`), DRAIN_GRACE_MS)
    if (answer.kind !== 'drained') this.kill(answer.kind === 'failed' ? answer.reason : 'no drain')
    await this.exited
    clearTimeout(timer)
    return answer.kind === 'drained' ? answer.cut : (this.lastBeat?.inFlight ?? 0)
  }

  /** Ends the drain that was asked for at once. */
  cut(): void {
    this.#send({ kind: 'cut' })
  }

  /** Ends the process at once. SIGKILL, because it also ends a process that is stopped or whose event loop hangs. */
  kill(reason: string): void {
    if (this.#endReason !== null) return
    this.killReason ??= this.#withDoing(reason)
    this.isReady = false
    this.#process.process.kill('SIGKILL')
  }

  /** Before the first word, `started` keeps the time. */
  isSilent(): boolean {
    return this.#isUp && this.#signs.isSilent()
  }

  askHeartbeat(): void {
    if (this.#isUp && this.#signs.isQuiet) this.#send({ kind: 'beat' })
  }

  #ask(question: Question, deadlineMs: number): Promise<Answer> {
    const id = ++this.#lastId
    if (this.#endReason !== null) return Promise.resolve({ kind: 'failed', id, reason: this.#endReason })
    return new Promise((resolve) => {
      const expire = (): void => {
        const reason = this.#withDoing(`no answer to ${question.kind} within ${deadlineMs} ms`)
        this.#settle({ kind: 'failed', id, reason })
      }
      const stop = IMPATIENT.has(question.kind)
        ? timeout(deadlineMs, expire)
        : processTimeout(this.#clock, deadlineMs, expire)
      this.#questions.set(id, (answer) => {
        stop()
        resolve(answer)
      })
      const message: Numbered<Question> = { ...question, id }
      this.#send(message)
    })
  }

  #send(message: ToWorker): void {
    // A channel that is closed answers through the callback; the exit that follows settles every question.
    if (this.#process.isConnected()) this.#process.send(message, () => {})
  }

  #hear(message: FromWorker): void {
    this.#signs.seen()
    if (message.kind === 'hello') {
      this.#isUp = true
      // What is sent before the first word is lost: the process does not listen yet.
      if (this.worker !== 0) this.seat(this.worker)
      this.#greet(true)
      return
    }
    if (message.kind === 'doing') {
      this.#doing = message.what
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
    if (message.kind === 'prepared' || message.kind === 'failed') this.#doing = null
    if (message.kind === 'samples' || message.kind === 'drained') this.lastSamples = message.samples
    if (message.kind === 'drained') this.lastLog = message.log
    this.#settle(message)
  }

  #withDoing(reason: string): string {
    return this.#doing === null ? reason : `${reason}; it was ${this.#doing}`
  }

  #settle(answer: Answer): void {
    const resolve = this.#questions.get(answer.id)
    this.#questions.delete(answer.id)
    resolve?.(answer)
  }

  /** An exit may be reported before the last words have been read from the channel; they count. */
  #whenRead(then: () => void): void {
    if (!this.#process.isConnected()) {
      then()
      return
    }
    const timer = setTimeout(then, LAST_WORDS_MS)
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
    for (const id of [...this.#questions.keys()]) this.#settle({ kind: 'failed', id, reason })
    return exit
  }
}

/** `exited with code 1` or `ended by SIGKILL`. */
export function exitText(exit: Pick<Exit, 'code' | 'signal'>): string {
  return exit.signal === null ? `exited with code ${exit.code}` : `ended by ${exit.signal}`
}

function timeout(ms: number, expire: () => void): () => void {
  const timer = setTimeout(expire, ms)
  return () => clearTimeout(timer)
}

function refusalOf(answer: Answer): Refusal {
  return answer.kind === 'failed' ? answer.reason : null
}
