import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { ConfigBundle } from '@sluice/config'
import { resolvePlan, unpackBundle } from '@sluice/config'
import type { LogIdentity } from '@sluice/core'
import type { Sample } from '../../telemetry/sample.js'
import type { DataPlane, Prepared } from '../../worker/data-plane.js'
import type { WorkerContext } from '../../worker/worker-process.js'

/** Response of the echo, describing the worker. */
export interface Echo {
  readonly worker: number
  readonly pid: number
  readonly digest: string | null
  readonly ready: boolean
  readonly routes: readonly string[]
  /** Head limit that the native parser would have received. */
  readonly headBytes: string
  /** For `/count`: number of such requests to all workers, or -1 if the store failed. */
  readonly count?: number
}

/**
 * A data plane on node:http that misbehaves on request, for tests of the processes around it. Route ids of
 * the plan control `prepare` (`refused-by-2`, `crash-by-2`, `slow-by-2`). Paths control requests (`/hang`,
 * `/block`, `/throw`).
 */
export class EchoPlane implements DataPlane {
  readonly connections = 0
  readonly stateProblem = null
  readonly setStepTraces = () => []
  readonly responses = { purge: () => 0, find: () => [], takeChanged: () => [], invalidate: () => {} }
  readonly #context: WorkerContext
  readonly #servers = new Map<string, Server>()
  #bundle: ConfigBundle | null = null
  #inFlight = 0
  #answered = 0
  #isReady = false
  #cut: () => void = () => {}

  constructor(context: WorkerContext) {
    this.#context = context
  }

  get digest(): string | null {
    return this.#bundle?.digest ?? null
  }

  get inFlight(): number {
    return this.#inFlight
  }

  async prepare(bundle: ConfigBundle): Promise<Prepared> {
    const { worker } = this.#context
    const plan = resolvePlan(bundle)
    const ids = plan.routes.map((route) => route.id)
    if (ids.includes(`refused-by-${worker}`)) throw new Error(`worker ${worker} was asked to refuse`)
    if (ids.includes(`crash-by-${worker}`)) process.abort()
    if (ids.includes(`slow-by-${worker}`)) await this.#dawdle()
    if (ids.includes(`crash-later-by-${worker}`)) setTimeout(() => process.abort(), 50)
    const added: string[] = []
    for (const { address, host, port } of plan.listeners) {
      if (this.#servers.has(address)) continue
      added.push(address)
      await this.#listen(address, host, this.#context.ports[address] ?? port)
    }
    return {
      activate: async () => {
        this.#bundle = bundle
        this.#close(
          [...this.#servers.keys()].filter((key) => !plan.listeners.some(({ address }) => address === key)),
        )
      },
      discard: () => this.#close(added),
    }
  }

  /** Waits longer than any test does. */
  async #dawdle(): Promise<void> {
    this.#context.report('plane.dawdles', {})
    await new Promise((resolve) => setTimeout(resolve, 60_000))
  }

  setReady(isReady: boolean): void {
    this.#isReady = isReady
  }

  onLoopCheck(): void {}

  setTargets(): void {}

  samples(): Sample[] {
    return [
      { name: 'gw_requests_total', labels: 'upstream="echo"', value: this.#answered },
      { name: 'gw_in_flight', labels: '', value: this.#inFlight },
    ]
  }

  logIdentity(): LogIdentity {
    const received = this.#answered
    return {
      received,
      indexed: received,
      dead: 0,
      deadRemoved: 0,
      dropped: 0,
      droppedBy: {},
      onDisk: 0,
      inMemory: 0,
      lagMs: 0,
    }
  }

  cut(): void {
    this.#cut()
  }

  async drain(deadlineMs: number): Promise<number> {
    const servers = [...this.#servers.values()]
    this.#servers.clear()
    let cut = 0
    this.#cut = () => {
      cut = this.#inFlight
      for (const server of servers) server.closeAllConnections()
    }
    const timer = setTimeout(this.#cut, deadlineMs)
    const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
    for (const server of servers) server.closeIdleConnections()
    await Promise.all(closed)
    clearTimeout(timer)
    return cut
  }

  async #listen(address: string, host: string, port: number): Promise<void> {
    const server = createServer((request, response) => this.#answer(request, response))
    this.#servers.set(address, server)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port }, resolve)
    })
  }

  #close(addresses: readonly string[]): void {
    for (const address of addresses) {
      this.#servers.get(address)?.close()
      this.#servers.delete(address)
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight++
    response.once('close', () => {
      this.#inFlight--
    })
    if (request.url === '/hang') return
    if (request.url === '/block') for (;;);
    if (request.url === '/throw') setImmediate(throwUncaught)
    else if (request.url === '/count') void this.#count(response)
    else if (request.url?.startsWith('/slow') === true) setTimeout(() => this.#echo(response), 1000)
    else this.#echo(response)
  }

  async #count(response: ServerResponse): Promise<void> {
    const count = await this.#context.memory.add('count', 1, 600_000).catch(() => -1)
    this.#echo(response, count)
  }

  #echo(response: ServerResponse, count?: number): void {
    this.#answered++
    const echo: Echo = {
      worker: this.#context.worker,
      pid: process.pid,
      digest: this.digest,
      ready: this.#isReady,
      routes: this.#bundle === null ? [] : unpackBundle(this.#bundle).plan.routes.map(({ id }) => id),
      headBytes: process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ?? '',
      ...(count === undefined ? {} : { count }),
    }
    response.setHeader('connection', 'close').end(JSON.stringify(echo))
  }
}

function throwUncaught(): never {
  throw new Error('uncaught error in a worker')
}
