import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CacheSettings, FromServer, ToServer } from '../../cache-server/store/settings.js'
import type { OperationLog } from '../../telemetry/operation-log.js'
import { ProcessClock, processTimeout } from '../process/process-clock.js'
import { HeartbeatMonitor, type Watched } from '../workers/watchdog.js'
import { exitText } from '../workers/worker-handle.js'

const PROGRAM = fileURLToPath(new URL('../../cache-server/child-program.js', import.meta.url))
/** The server does its work in threads, so one V8 helper thread is enough. */
const FLAGS = ['--v8-pool-size=1']
/** Largest request head that uWebSockets accepts, in bytes. It has to hold keys, tags and a long token. */
const HEAD_BYTES = { UWS_HTTP_MAX_HEADERS_SIZE: '32768' }
/** Start timeout in milliseconds of process time (see `ProcessClock`). */
const START_MS = 30_000
/** Time in milliseconds for a graceful stop before the process is killed. */
const END_MS = 15_000

/**
 * A cache server process. It receives its settings over IPC, so that the token never shows up in the
 * process list.
 */
export class CacheServerProcess implements Watched {
  readonly startedMono = performance.now()
  /** Resolves with null once it listens, or with the reason why it failed. */
  readonly listening: Promise<string | null>
  /** Resolves with the exit reason. */
  readonly ended: Promise<string>
  /** Resident memory in bytes, from the last heartbeat. */
  rssBytes = 0
  readonly #child: ChildProcess
  readonly #heartbeat: HeartbeatMonitor
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
    this.#heartbeat = new HeartbeatMonitor(clock)
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(this.#fault ?? exitText({ code, signal })))
    })
    this.listening = new Promise((resolve) => {
      const stop = processTimeout(clock, START_MS, () => void this.kill('did not start in time'))
      const settle = (problem: string | null): void => {
        stop()
        resolve(problem)
      }
      child.on('message', (message: FromServer) => {
        this.#heartbeat.seen()
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
    return this.#heartbeat.isSilent()
  }

  askHeartbeat(): void {
    if (this.#heartbeat.isQuiet) this.#send({ kind: 'beat' })
  }

  /** Stops gracefully: requests in flight have time to finish. */
  async stop(): Promise<void> {
    this.#send({ kind: 'stop' })
    const deadline = setTimeout(() => this.kill('did not stop in time'), END_MS)
    await this.ended
    clearTimeout(deadline)
  }

  /** Kills the process immediately. */
  async kill(reason: string): Promise<void> {
    this.#fault ??= reason
    this.#child.kill('SIGKILL')
    await this.ended
  }

  #send(message: ToServer): void {
    if (this.#child.connected) this.#child.send(message, () => {})
  }
}

/** Operation log event of a server event: `persist_lost` becomes `cache-server.persist-lost`. */
function eventName(event: string): string {
  return `cache-server.${event.replace('_', '-')}`
}
