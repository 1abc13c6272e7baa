import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { TestContext } from 'node:test'
import { bundleOf, packChunks } from '@sluice/control-client'
import { MemberProxy, TestMember } from '@sluice/control-client/testing'
import { closedPort, type GwProcess, killGroup, scratch, spawnGw, until } from '../testing.js'
import { gwInProcess } from './in-process.js'

const GROUP = 'edge'

/** Options of a group. */
export interface GroupOptions {
  /** Number of real gateways. */
  readonly gateways: number
  /** Number of clients of the protocol without a gateway. */
  readonly clients: number
  /** Creates proxies between members and the controller. */
  readonly isProxied?: boolean
  /** Folder of the controller. */
  readonly store?: string
  /** Program in place of Node.js. */
  readonly node?: string
  /** Returns the variables of a gateway. */
  readonly env?: (gateway: number) => Readonly<Record<string, string>>
  /** Returns the folder of a gateway, or undefined for a new one. */
  readonly dataDir?: (gateway: number) => string | undefined
}

/** A member of a group as `gw fleet -o json` shows it. */
export interface FleetRow {
  readonly name: string
  readonly status: string
  readonly reason: string | null
  readonly digest: string | null
}

/** Answer to a deploy. */
export interface DeployAnswer {
  readonly status: number
  readonly code?: string
  readonly detail?: string
  readonly digest: string
}

/** A step of a deploy. */
export interface DeployStep {
  readonly event?: string
  readonly member?: string
}

/** A real gateway of a group. It survives its process. */
export class GroupGateway {
  readonly name: string
  process!: GwProcess
  #port = 0
  readonly #start: () => GwProcess

  constructor(name: string, start: () => GwProcess) {
    this.name = name
    this.#start = start
    this.start()
  }

  start(): void {
    this.process = this.#start()
  }

  async listening(): Promise<void> {
    await until(() => /^listening on \S+/m.test(this.process.stdout()), this.process.stderr)
  }

  /** Port of its last process that has one. */
  get port(): number {
    const port = /^listening on \S+:(\d+)/m.exec(this.process.stdout())?.[1]
    if (port !== undefined) this.#port = Number(port)
    return this.#port
  }

  /** Opens a connection. */
  connect(): net.Socket {
    return net.connect(this.port, '127.0.0.1')
  }

  /** Returns the label of the document that it serves. */
  async label(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.port}/r/label`)).text()
  }
}

/** A group of real gateways and clients of the protocol, with a real controller. */
export class GatewayGroup {
  readonly gateways: GroupGateway[] = []
  readonly clients: TestMember[] = []
  /** Proxies of the gateways, then of the clients. */
  readonly proxies: MemberProxy[] = []
  controller!: GwProcess
  readonly #t: TestContext
  readonly #options: GroupOptions
  readonly #tokenFile: string
  readonly #adminTokenFile: string
  #url = ''
  #store: string

  private constructor(t: TestContext, options: GroupOptions) {
    this.#t = t
    this.#options = options
    const folder = scratch(t)
    this.#tokenFile = join(folder, 'token')
    this.#adminTokenFile = join(folder, 'admin-token')
    this.#store = options.store ?? join(folder, 'store')
  }

  static async start(t: TestContext, options: GroupOptions): Promise<GatewayGroup> {
    const group = new GatewayGroup(t, options)
    await group.#start()
    return group
  }

  async #start(): Promise<void> {
    const { gateways, clients, isProxied = false, env, dataDir } = this.#options
    this.#url = `http://127.0.0.1:${await closedPort()}`
    await this.startController()
    const count = gateways + clients
    for (let i = 0; isProxied && i < count; i++)
      this.proxies.push(await MemberProxy.start(this.#t, () => this.#url))
    const urls = Array.from({ length: count }, (_, i) => this.proxies[i]?.url ?? this.#url)
    for (let i = 0; i < gateways; i++) {
      const own = ['--control', urls[i]!, '--group', GROUP, '--control-name', `gateway-${i}`]
      const files = ['--control-token-file', this.#tokenFile]
      const args = ['start', ...own, ...files, '--data-dir', dataDir?.(i) ?? scratch(this.#t)]
      const options = { ...this.#nodeOption, env: env?.(i) ?? {} }
      this.gateways.push(new GroupGateway(`gateway-${i}`, () => spawnGw(this.#t, args, options)))
    }
    const credentials = () => ({
      ...{ token: readFileSync(this.#tokenFile, 'utf8').trim(), ca: null, client: null },
      fingerprints: [],
    })
    for (let i = 0; i < clients; i++)
      this.clients.push(
        new TestMember(this.#t, [urls[gateways + i]!], { group: GROUP, name: `client-${i}`, credentials }),
      )
    await until(async () => (await this.fleet()).filter(({ status }) => status !== 'away').length === count)
  }

  get #nodeOption(): { readonly node?: string } {
    const { node } = this.#options
    return node === undefined ? {} : { node }
  }

  /** Starts the controller, or another one in place of a dead one. With another store, the members get a new token. */
  async startController(options: { readonly store?: string; readonly env?: Record<string, string> } = {}) {
    const isNew = this.controller === undefined || options.store !== undefined
    this.#store = options.store ?? this.#store
    if (isNew) rmSync(this.#adminTokenFile, { force: true })
    const args = ['--store', this.#store, '--listen', new URL(this.#url).host]
    const files = ['--admin-token-file', this.#adminTokenFile]
    this.controller = spawnGw(this.#t, ['control', 'start', ...args, ...files], {
      ...this.#nodeOption,
      ...(options.env === undefined ? {} : { env: options.env }),
    })
    const { stdout, stderr } = this.controller
    await until(() => /^controller on /m.test(stdout()), stderr)
    if (!isNew) return
    const created = await this.gw('control', 'token', 'create', 'gateways', '--role', 'member')
    writeFileSync(this.#tokenFile, created, { mode: 0o600 })
  }

  async killController(): Promise<void> {
    killGroup(this.controller.process)
    await this.controller.exited
  }

  /** Runs a command as admin. Returns its output. */
  async gw(...args: readonly string[]): Promise<string> {
    const token = readFileSync(this.#adminTokenFile, 'utf8').trim()
    const { code, stdout, stderr } = await gwInProcess(args, {
      env: { GW_CONTROL_SERVER: this.#url, GW_TOKEN: token },
    })
    assert.equal(code, 0, stderr)
    return stdout
  }

  async fleet(): Promise<readonly FleetRow[]> {
    const { members } = (await (await this.#call('GET', '/v1/members')).json()) as {
      readonly members: readonly FleetRow[]
    }
    return members
  }

  /** Deploys a document, like `gw deploy`. @param onStep called with the steps of the deploy */
  async deploy(
    document: string,
    options: object = {},
    onStep?: (step: DeployStep) => void,
  ): Promise<DeployAnswer> {
    const { manifest, chunks, digest } = bundleOf(new Map([['gateway.yaml', Buffer.from(document)]]))
    const asked = await this.#call('POST', '/v1/chunks/missing', { chunks: [...chunks.keys()] })
    const answered = (await asked.json()) as { readonly missing?: readonly string[] }
    if (!asked.ok) return { ...answered, status: asked.status, digest }
    const missing = (answered.missing ?? []).map((chunk) => chunks.get(chunk)!)
    const stored = missing.length === 0 ? asked : await this.#call('POST', '/v1/chunks', packChunks(missing))
    const body = { manifest, deadlineMs: 120_000, ...options }
    const accept = onStep === undefined ? {} : { accept: 'application/x-ndjson' }
    const path = `/v1/groups/${GROUP}/deploys`
    const answer = stored.ok ? await this.#call('POST', path, body, accept) : stored
    if (onStep === undefined) return { ...((await answer.json()) as object), status: answer.status, digest }
    let last = {}
    for await (const line of createInterface(Readable.fromWeb(answer.body as ReadableStream))) {
      last = JSON.parse(line) as object
      onStep(last)
    }
    return { ...last, status: answer.status, digest }
  }

  #call(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const token = readFileSync(this.#adminTokenFile, 'utf8').trim()
    const isRaw = Buffer.isBuffer(body)
    const type = isRaw ? 'application/octet-stream' : 'application/json'
    return fetch(`${this.#url}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${token}`, 'content-type': type },
      ...(body === undefined ? {} : { body: isRaw ? new Uint8Array(body) : JSON.stringify(body) }),
    })
  }
}
