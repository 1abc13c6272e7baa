import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { burst } from './burst.js'

const GW = fileURLToPath(new URL('../../bin/gw.mjs', import.meta.url))
const START_MS = 60_000
/** Clock ticks per second in process times on Linux. */
const TICKS = 100

/** Number of ticks that give a resolution of one percent. */
const ENOUGH_TICKS = 100
const BATCH = 5000

/** CPU time per request, in microseconds. */
export interface RequestCost {
  readonly micros: number
  /** Resolution: the share of one clock tick. Smaller differences are not measurable. */
  readonly doubtMicros: number
}

/** A gateway in separate processes, which a plugin may block, crash or overload. */
export class TrialGateway {
  readonly #child: ChildProcess
  readonly #url: URL
  readonly #admin: string
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 8 })

  private constructor(child: ChildProcess, url: string, admin: string) {
    this.#child = child
    this.#url = new URL(url)
    this.#admin = admin
  }

  /**
   * Starts a gateway.
   * @param dir folder with `gateway.yaml`
   * @throws Error with its last output if it does not start
   */
  static start(dir: string): Promise<TrialGateway> {
    const args = [GW, 'start', '-c', join(dir, 'gateway.yaml'), '--data-dir', join(dir, '.data')]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    return new Promise((resolve, reject) => {
      let said = ''
      const fail = (why: string): void => {
        kill(child)
        reject(new Error(`${why}: ${said.trim().split('\n').at(-1) ?? ''}`))
      }
      const timer = setTimeout(() => fail('the gateway did not start'), START_MS)
      const hear = (chunk: Buffer): void => {
        said = (said + chunk.toString()).slice(-64 * 1024)
        const url = /listening on (\S+)/.exec(said)?.[1]
        const admin = /admin API on (\S+)/.exec(said)?.[1]
        if (url === undefined || admin === undefined) return
        clearTimeout(timer)
        resolve(new TrialGateway(child, url, admin))
      }
      child.stdout.on('data', hear)
      child.stderr.on('data', hear)
      child.once('exit', () => fail('the gateway exited'))
    })
  }

  /** Returns the process id of its only worker, or null while it is not running. */
  async workerPid(): Promise<number | null> {
    const status = (await (await fetch(`${this.#admin}/v1/status`)).json()) as {
      readonly workers: readonly { readonly pid: number | null }[]
    }
    return status.workers[0]?.pid ?? null
  }

  /** Returns the status of a GET request, or 0 if there was no response. */
  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    return new Promise((resolve) => {
      const options = {
        host: this.#url.hostname,
        port: this.#url.port,
        path,
        headers,
        agent: this.#agent,
        timeout: 10_000,
      }
      const asked = http.get(options, (response) => {
        response.resume().once('close', () => resolve(response.statusCode ?? 0))
      })
      asked.once('timeout', () => asked.destroy())
      asked.once('error', () => resolve(0))
    })
  }

  /** Sends raw bytes and waits until the response starts or the connection ends. */
  send(bytes: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = net.connect(Number(this.#url.port), this.#url.hostname, () =>
        socket.write(bytes, 'latin1'),
      )
      socket.setTimeout(2000, () => socket.destroy())
      socket.once('data', () => socket.destroy())
      socket.on('error', () => {})
      socket.once('close', () => resolve())
    })
  }

  /** Measures the worker's CPU time for requests, up to a maximum number of requests or one second. */
  async costOf(path: string, mostRequests: number): Promise<RequestCost> {
    const pid = (await this.workerPid()) ?? 0
    const before = ticksOf(pid)
    let [requests, ticks] = [0, 0]
    while (requests < mostRequests && ticks < ENOUGH_TICKS) {
      const more = Math.min(BATCH, mostRequests - requests)
      await burst(this.#url, path, more)
      requests += more
      ticks = ticksOf(pid) - before
    }
    const doubtMicros = 1e6 / TICKS / requests
    return { micros: ticks * doubtMicros, doubtMicros }
  }

  close(): void {
    this.#agent.destroy()
    kill(this.#child)
  }
}

/** Kills the process group, because workers outlive the process that was started. */
function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All processes have already ended.
  }
}

/** Returns the user and system time of a process in ticks (proc(5), fields 14 and 15 of stat). */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
