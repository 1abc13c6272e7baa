import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EngineAnswer, EngineRequest } from './engine-main.js'
import { saxonPaths } from './sandbox/sandbox.js'

/** Memory of the engine for JavaScript, in MB; beyond it the process ends, and only this one. */
const MAX_HEAP_MB = 512
/** How much longer than its time limit a request may take before the process is killed. */
const GRACE_MS = 5000

const MAIN = fileURLToPath(new URL('./engine-main.js', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../../../../package.json', import.meta.url))

/** The process ended before it answered: it needed too much memory, or somebody killed it. */
export class EngineEnded extends Error {}

/**
 * A process that runs SaxonJS in sandboxes. Beside them it has nothing worth reaching: no environment, and by the
 * permission model of Node.js no files but the programs of its package, no other processes and no threads. A stylesheet
 * that takes all memory costs this process and not the gateway. One request at a time; the process ends with its parent.
 */
export class EngineProcess {
  readonly #child: ChildProcess
  readonly #startMono = performance.now()
  #last: Promise<unknown> = Promise.resolve()
  #isEnded = false

  constructor() {
    this.#child = fork(MAIN, [JSON.stringify(saxonPaths())], {
      // The time zone is what stylesheets write dates in.
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

  /** @throws EngineEnded */
  ask(request: EngineRequest, timeoutMs: number): Promise<EngineAnswer> {
    const answer = this.#last.then(() => this.#ask(request, timeoutMs + GRACE_MS))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  /** Returns the CPU time of the process in ms; where the system does not tell, the time since its start. */
  cpuMs(): number {
    try {
      // The name of the command, in brackets, may hold anything. Ticks are 10 ms (proc_pid_stat(5), utime and stime).
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
      const ended = (): void => settle(() => reject(new EngineEnded('the engine of XSLT has ended')))
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

  /** It keeps its parent alive only while somebody waits for an answer. */
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

/** The options of Node.js that the engine is started with. */
export function engineOptions(): string[] {
  // Before Node.js 22.13 the permission model had this name.
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
