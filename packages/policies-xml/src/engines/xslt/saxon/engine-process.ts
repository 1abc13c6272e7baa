import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EngineAnswer, EngineRequest } from './engine-main.js'
import { saxonPaths } from './sandbox/sandbox.js'

/** Heap limit of the engine in MB. Beyond it only this process ends. */
const MAX_HEAP_MB = 512
/** Time after its time limit at which a request's process is killed, in milliseconds. */
const GRACE_MS = 5000

const MAIN = fileURLToPath(new URL('./engine-main.js', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../../../../../policies/package.json', import.meta.url))

/** Thrown if the process ended before it answered, because it needed too much memory or was killed. */
export class EngineEnded extends Error {}

/**
 * A process that runs SaxonJS in sandboxes. It has an empty environment. The permission model of Node.js restricts it
 * to the files of its package and forbids other processes and threads. A stylesheet that uses all memory ends this
 * process but not the gateway. It handles one request at a time and ends with its parent.
 */
export class EngineProcess {
  readonly #child: ChildProcess
  readonly #startMono = performance.now()
  #last: Promise<unknown> = Promise.resolve()
  #isEnded = false

  constructor() {
    this.#child = fork(MAIN, [JSON.stringify(saxonPaths())], {
      // Stylesheets write local times in this time zone.
      env: process.env['TZ'] === undefined ? {} : { TZ: process.env['TZ'] },
      execArgv: engineOptions(),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      cwd: '/',
    })
    this.#child.once('exit', () => this.#end())
    this.#child.once('error', () => this.#end())
    this.#hold(false)
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Sends a request and returns its answer. @throws EngineEnded */
  ask(request: EngineRequest, timeoutMs: number): Promise<EngineAnswer> {
    const answer = this.#last.then(() => this.#ask(request, timeoutMs + GRACE_MS))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  /**
   * Returns the CPU time of the process in milliseconds, or the time since its start if the system does not report
   * it.
   */
  cpuMs(): number {
    try {
      // Skips the command name in brackets, which may contain anything. Ticks are 10 ms (proc_pid_stat(5), utime and
      // stime).
      const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) * 10
    } catch {
      return performance.now() - this.#startMono
    }
  }

  close(): void {
    this.#end()
    this.#child.kill('SIGKILL')
  }

  #ask(request: EngineRequest, timeoutMs: number): Promise<EngineAnswer> {
    const child = this.#child
    return new Promise((resolve, reject) => {
      const ended = (): void => settle(() => reject(new EngineEnded('the XSLT engine process has ended')))
      const answered = (answer: EngineAnswer): void => settle(() => resolve(answer))
      const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
      const settle = (report: () => void): void => {
        clearTimeout(timer)
        child.off('message', answered).off('exit', ended).off('error', ended)
        this.#hold(false)
        report()
      }
      if (this.#isEnded) return ended()
      this.#hold(true)
      child.once('message', answered).once('exit', ended).once('error', ended)
      child.send(request, (problem) => {
        if (problem !== null) child.kill('SIGKILL')
      })
    })
  }

  /** Keeps the parent process alive only while a request is waiting for its answer. */
  #hold(isHeld: boolean): void {
    const { channel } = this.#child
    if (isHeld) {
      this.#child.ref()
      channel?.ref()
    } else {
      this.#child.unref()
      channel?.unref()
    }
  }

  #end(): void {
    this.#isEnded = true
  }
}

/** Returns the Node.js options of the engine process. */
export function engineOptions(): string[] {
  // Name of the permission model before Node.js 22.13.
  const known = process.allowedNodeEnvironmentFlags
  const permission = ['--permission', '--experimental-permission']
    .filter((name) => known.has(name))
    .slice(0, 1)
  const readable = [`${dirname(MAIN)}/*`, PACKAGE, ...Object.values(saxonPaths())]
  return [
    ...permission,
    ...(permission.length === 0 ? [] : readable.map((path) => `--allow-fs-read=${path}`)),
    '--no-warnings',
    '--disallow-code-generation-from-strings',
    `--max-old-space-size=${MAX_HEAP_MB}`,
  ]
}
