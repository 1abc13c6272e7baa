import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { burst } from './burst.js'

const GW = fileURLToPath(new URL('../../bin/gw.mjs', import.meta.url))
const START_MS = 60_000
/** Ticks a second of the clock that Linux counts the time of processes with. */
const TICKS = 100

/** Of so many ticks each is a hundredth, whatever a request costs. */
const ENOUGH_TICKS = 100
const BATCH = 5000

/** CPU time of one request. */
export interface RequestCost {
  readonly micros: number
  /** What one tick of the clock is of it: no difference that is smaller can be seen. */
  readonly doubtMicros: number
}

/** A gateway in processes of its own, which a plugin may hang, end or fill. */
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

  /** @param dir holds `gateway.yaml`. @throws Error with what it said when it does not start. */
  static start(dir: string): Promise<TrialGateway> {
    const args = [GW, 'start', '-c', join(dir, 'gateway.yaml'), '--data-dir', join(dir, '.data')]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    return new Promise((resolve, reject) => {
      let said = ''
      const fail = (why: string): void => {
        kill(child)
        reject(new Error(`${why}: ${said.trim().split('\n').at(-1) ?? ''}`))
      }
      const timer = setTimeout(() => fail('the gateway does not start'), START_MS)
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
      child.once('exit', () => fail('the gateway ended'))
    })
  }

  /** The process of its one worker; null while there is none. */
  async workerPid(): Promise<number | null> {
    const status = (await (await fetch(`${this.#admin}/v1/status`)).json()) as {
      readonly workers: readonly { readonly pid: number | null }[]
    }
    return status.workers[0]?.pid ?? null
  }

  /** The status of a GET; 0: there was no answer. */
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

  /** Sends bytes as they are and waits until they are answered or the connection ends. */
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

  /** CPU time of the worker for requests for a path: for so many of them, or until it is a second. */
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

/** The group: the workers would outlive the process that is started here. */
function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of them are gone.
  }
}

/** Time of a process in user and system mode (proc(5), fields 14 and 15 of stat). */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
