import type { OperationLog } from '../telemetry/operation-log.js'
import type { StepTraceSession } from '../worker/messages.js'
import type { StepTraceLosses } from './workers/worker-handle.js'

/** A request for step traces. */
export interface StepTraceRequest {
  /** Route to trace, or null for all. */
  readonly route: string | null
  /** Condition for the requests to trace, or null for all. */
  readonly when: string | null
  /** Maximum number of traces. */
  readonly count: number
  /** Maximum duration in milliseconds. */
  readonly forMs: number
}

/** Result of a step trace. */
export interface StepTraceEnd {
  readonly reason: 'count' | 'duration' | 'stopped'
  readonly traces: number
  /** Number of matching requests that were not traced, because there were too many at once. */
  readonly lost: number
}

/** Receiver of the traces of a session. */
export interface StepTraceReceiver {
  /** Called once the workers trace. */
  onArmed(): void
  /** Called with each trace, as JSON. Returns false if the receiver is too slow, so that the trace is lost. */
  onTrace(trace: string): boolean
  /** Called at the end, unless the receiver has stopped the session. */
  onEnd(end: StepTraceEnd): void
}

/** The part of the worker pool that step traces use. */
interface Workers {
  setStepTraces(sessions: readonly StepTraceSession[]): Promise<(StepTraceLosses | null)[]>
  onStepTrace: (session: number, trace: string) => void
}

interface Session {
  readonly asked: StepTraceSession
  readonly receiver: StepTraceReceiver
  readonly timer: NodeJS.Timeout
  traces: number
  lost: number
}

/** Maximum number of sessions at the same time. */
export const MAX_SESSIONS = 4

/** Open step traces of all workers. Each ends by its count or duration, or when its receiver stops it. */
export class StepTraces {
  readonly #workers: Workers
  readonly #log: OperationLog
  readonly #sessions = new Map<number, Session>()
  #lastId = 0

  constructor(workers: Workers, log: OperationLog) {
    this.#workers = workers
    this.#log = log
    workers.onStepTrace = (id, trace) => this.#receive(id, trace)
  }

  /** True if another session may start. */
  get hasRoom(): boolean {
    return this.#sessions.size < MAX_SESSIONS
  }

  /** Starts a session, if there is room. Returns the function that stops it. */
  start(
    { route, when, count, forMs }: StepTraceRequest,
    actor: string,
    receiver: StepTraceReceiver,
  ): () => void {
    const id = ++this.#lastId
    const timer = setTimeout(() => void this.#end(id, 'duration'), forMs)
    const session = { asked: { id, route, when, count }, receiver, timer, traces: 0, lost: 0 }
    this.#sessions.set(id, session)
    this.#log.info('step-trace.started', { actor, route, when, count, forMs })
    void this.#publish().then(() => {
      if (this.#sessions.has(id)) receiver.onArmed()
    })
    return (): void => {
      if (this.#close(id) !== null) void this.#publish()
    }
  }

  /** Ends all sessions. */
  close(): void {
    for (const id of [...this.#sessions.keys()]) void this.#end(id, 'stopped')
  }

  #receive(id: number, trace: string): void {
    const session = this.#sessions.get(id)
    if (session === undefined) return
    if (!session.receiver.onTrace(trace)) session.lost++
    else if (++session.traces === session.asked.count) void this.#end(id, 'count')
  }

  async #end(id: number, reason: StepTraceEnd['reason']): Promise<void> {
    const session = this.#close(id)
    if (session === null) return
    const losses = (await this.#publish()).flatMap((worker) => worker ?? [])
    const lost = losses.reduce((sum, [ended, count]) => (ended === id ? sum + count : sum), session.lost)
    session.receiver.onEnd({ reason, traces: session.traces, lost })
  }

  #close(id: number): Session | null {
    const session = this.#sessions.get(id)
    if (session === undefined) return null
    this.#sessions.delete(id)
    clearTimeout(session.timer)
    return session
  }

  #publish(): Promise<(StepTraceLosses | null)[]> {
    return this.#workers.setStepTraces([...this.#sessions.values()].map(({ asked }) => asked))
  }
}
