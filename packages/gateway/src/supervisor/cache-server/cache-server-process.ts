import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CacheSettings, FromServer, ToServer } from '../../cache-server/settings.js'
import type { OperationLog } from '../../telemetry/operation-log.js'
import { ProcessClock, processTimeout } from '../process-clock.js'
import { SignsOfLife, type Watched } from '../watchdog.js'
import { exitText } from '../worker-handle.js'

const PROGRAM = fileURLToPath(new URL('../../cache-server/child-program.js', import.meta.url))
/** Threads of its own do the work: one helper of V8 is enough. */
const FLAGS = ['--v8-pool-size=1']
/** The largest head that uWebSockets accepts, in bytes: keys, tags and a long token. */
const HEAD_BYTES = { UWS_HTTP_MAX_HEADERS_SIZE: '32768' }
/** Start timeout in milliseconds of process time (see `ProcessClock`). */
const START_MS = 30_000
/** Longest time that it takes to end after it was told to. */
const END_MS = 15_000

/** One process that serves a cache. Its settings come over the channel, so that no token stands in the list of processes. */
export class CacheServerProcess implements Watched {
  readonly startedMono = performance.now()
  /** Null: it serves; else why it does not. */
  readonly listening: Promise<string | null>
  /** Why it has ended. */
  readonly ended: Promise<string>
  /** Resident memory, at its last heartbeat. */
  rssBytes = 0
  readonly #child: ChildProcess
  readonly #signs: SignsOfLife
  #fault: string | null = null

  constructor(settings: CacheSettings, log: OperationLog) {
    const child = fork(PROGRAM, [], {
      execArgv: FLAGS,
      env: { ...process.env, ...HEAD_BYTES },
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child = child
    const clock = new ProcessClock(child.pid ?? 0)
    this.#signs = new SignsOfLife(clock)
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(this.#fault ?? exitText({ code, signal })))
    })
    this.listening = new Promise((resolve) => {
      const stop = processTimeout(clock, START_MS, () => void this.kill('does not start'))
      const settle = (problem: string | null): void => {
        stop()
        resolve(problem)
      }
      child.on('message', (message: FromServer) => {
        this.#signs.seen()
        if (message.kind === 'listening') settle(null)
        else if (message.kind === 'heartbeat') this.rssBytes = message.rssBytes
        else if (message.kind === 'fault') this.#fault = message.message
        else log[message.event === 'persist_lost' ? 'warn' : 'info'](eventName(message.event), message.fields)
      })
      void this.ended.then(settle)
    })
    this.#send({ kind: 'serve', settings })
  }

  get pid(): number | null {
    return this.#child.pid ?? null
  }

  isSilent(): boolean {
    return this.#signs.isSilent()
  }

  askHeartbeat(): void {
    if (this.#signs.isQuiet) this.#send({ kind: 'beat' })
  }

  /** Ends it: what is under way has some time. */
  async stop(): Promise<void> {
    this.#send({ kind: 'stop' })
    const deadline = setTimeout(() => this.kill('does not end'), END_MS)
    await this.ended
    clearTimeout(deadline)
  }

  /** Ends it at once. */
  async kill(reason: string): Promise<void> {
    this.#fault ??= reason
    this.#child.kill('SIGKILL')
    await this.ended
  }

  #send(message: ToServer): void {
    if (this.#child.connected) this.#child.send(message, () => {})
  }
}

/** `persist_lost` as the operation log names it. */
function eventName(event: string): string {
  return `cache-server.${event.replace('_', '-')}`
}
