import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ControlSettings } from '../control/control-settings.js'
import type { Addresses, SupervisorStatus } from '../status/status.js'
import type { Echo } from './echo-plane.js'
import { until } from './until.js'

/** Options for starting a gateway in a test. */
export interface GatewayOptions {
  readonly document?: string
  /** Directory that outlives one gateway; by default a new one. */
  readonly dir?: string
  readonly workers?: number | null
  /** Kind of workers; by default they echo. */
  readonly kind?: 'echo' | 'busy'
  readonly env?: Readonly<Record<string, string>>
  /** Controller on the command line. */
  readonly control?: ControlSettings
  /** True to start without a document. */
  readonly isWithoutDocument?: boolean
}

/** Exit of a process. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: string | null
}

/** Message from the process about its start. */
interface StartReport {
  readonly addresses?: Addresses
  readonly error?: string
}

/** One entry of the operation log. */
export type LogEntry = Readonly<Record<string, unknown>>

/** Returns a document with one listener and one route, recognisable by its id. */
export function fakeDocument(routeId: string, more = ''): string {
  return [
    'version: 1',
    'listeners: [{ address: 127.0.0.1:0 }]',
    'admin: { address: 127.0.0.1:0 }',
    'log: { sink: none }',
    `routes: [{ id: ${routeId}, match: { path: /${routeId} }, respond: { status: 200, body: ok } }]`,
    more,
    '',
  ].join('\n')
}

/** Creates a temporary directory. `GatewayProcess` removes it at the end. */
export function testDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'gateway-'))
}

/** A gateway in a separate process, with echoing workers. Everything it started is killed after the test. */
export class GatewayProcess {
  readonly dir: string
  readonly configFile: string
  readonly exited: Promise<ProcessEnd>
  readonly #child: ChildProcess
  #report: StartReport | null = null
  #stderr = ''
  /** Process ids of all workers that were ever ready. */
  readonly #workerPids = new Set<number>()

  constructor(t: TestContext, options: GatewayOptions = {}) {
    this.dir = options.dir ?? testDirectory()
    this.configFile = join(this.dir, 'gateway.yaml')
    if (options.document !== undefined) this.write(options.document)
    const script = fileURLToPath(new URL('./run-supervisor.js', import.meta.url))
    const workers = options.workers === null ? '' : String(options.workers ?? 2)
    const file = options.isWithoutDocument === true ? '' : this.configFile
    const control = options.control === undefined ? '' : JSON.stringify(options.control)
    const args = [script, file, join(this.dir, 'data'), workers, options.kind ?? 'echo', control]
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...process.env, ...options.env },
    })
    this.#child = child
    child.on('message', (report: StartReport) => {
      this.#report = report
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString()
    })
    // Not `close`: workers that outlive the process hold its output open. Its last output arrives within a
    // turn.
    this.exited = new Promise((resolve) => {
      child.once('exit', async (code, signal) => {
        for (let turn = 0; turn < 2; turn++) await setImmediate()
        resolve({ code, signal })
      })
    })
    t.after(() => this.#endAll())
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Rewrites the document. */
  write(text: string): void {
    writeFileSync(this.configFile, text)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /**
   * Waits until the gateway is ready.
   * @throws Error with its output if it exits instead.
   */
  async started(): Promise<this> {
    const error = await this.startError()
    if (error !== null) throw new Error(`not started: ${error}\n${this.#stderr}`)
    return this
  }

  /** Waits until the start has finished. Returns the error, or null on success. */
  async startError(): Promise<string | null> {
    const report = () => this.#report ?? (this.#child.exitCode === null ? null : { error: 'it ended' })
    return (await until(report)).error ?? null
  }

  get addresses(): Addresses {
    return this.#report!.addresses!
  }

  get url(): string {
    return this.addresses.listeners[0]!.url
  }

  /** Returns the operation log entries with this event, of all processes. */
  log(event: string): LogEntry[] {
    const lines = this.#stderr.split('\n').filter((line) => line.startsWith('{'))
    return lines.map((line) => JSON.parse(line) as LogEntry).filter((entry) => entry['event'] === event)
  }

  async status(): Promise<SupervisorStatus> {
    const status = (await (await this.api('/v1/status')).json()) as SupervisorStatus
    for (const { pid } of status.workers) if (pid !== null) this.#workerPids.add(pid)
    return status
  }

  api(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.addresses.admin}${path}`, init)
  }

  put(document: string, query = '', headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const type = { 'content-type': 'application/yaml' }
    return this.api(`/v1/config${query}`, { method: 'PUT', body: document, headers: { ...type, ...headers } })
  }

  async echo(path = '/'): Promise<Echo> {
    return (await (await fetch(`${this.url}${path}`)).json()) as Echo
  }

  /** Returns the active digest of each worker. */
  async servedDigests(): Promise<readonly (string | null)[]> {
    return (await this.status()).workers.map((worker) => worker.digest)
  }

  async #endAll(): Promise<void> {
    for (const entry of this.log('worker.ready')) this.#workerPids.add(Number(entry['pid']))
    for (const pid of [this.pid, ...this.#workerPids]) killQuietly(pid)
    await this.exited
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Returns true if a process exists. A zombie still exists until it is reaped. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function killQuietly(pid: number): void {
  try {
    if (pid > 0) process.kill(pid, 'SIGKILL')
  } catch {
    // The process has exited already.
  }
}
