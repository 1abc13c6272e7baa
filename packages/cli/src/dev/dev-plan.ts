import { createHash } from 'node:crypto'
import { mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Address, type ConfigBundle, isLoopback, type Plan, type RoutePlan } from '@sluice/config'
import { probePort } from '@sluice/gateway/start'
import { type MockedUpstream, MockedUpstreams, type MockMode } from './mocked-upstreams.js'

/** Options for `DevPlan`. */
export interface DevPlanOptions {
  /** Port of the first listener, or null for the port in the document. */
  readonly port: number | null
  /** Host of all listeners, or null for those that only this machine can reach. */
  readonly host: string | null
  readonly mock: MockMode
  readonly config: string
  /** Scratch folder for the traffic log. */
  readonly folder: string
}

const LOOPBACK = '127.0.0.1'

/** Adjusts plans for development: mocks, a complete traffic log in a scratch folder, local addresses and free ports. */
export class DevPlan {
  readonly #options: DevPlanOptions
  readonly #upstreams: MockedUpstreams
  /** Folder of the traffic log. */
  readonly trafficDir: string
  /** True if the port of the admin API is in use by another process, so that any free port is used. */
  #isAdminMoved: boolean | null = null
  /** Addresses of the document that other machines can reach, but not in development. */
  #closed: readonly string[] = []
  /** Versions of the files that policies read. */
  readonly #files = new Map<string, string>()
  /** Names of policies in the catalog, by their id. */
  #uses: ReadonlyMap<string, string> = new Map()

  constructor(options: DevPlanOptions) {
    this.#options = options
    this.#upstreams = new MockedUpstreams(options.mock)
    this.trafficDir = join(options.folder, 'traffic')
    mkdirSync(this.trafficDir)
  }

  get mocked(): readonly MockedUpstream[] {
    return this.#upstreams.mocked
  }

  /** Addresses of the document in whose place the gateway listens on this machine only. */
  get closed(): readonly string[] {
    return this.#closed
  }

  /** True if a mocked upstream has become reachable, or a file that a policy reads has changed. */
  async isOutdated(): Promise<boolean> {
    let hasChanged = false
    for (const [path, version] of this.#files) {
      const now = fileVersion(path)
      if (now === version) continue
      hasChanged = true
      this.#files.set(path, now)
    }
    return (await this.#upstreams.isOutdated()) || hasChanged
  }

  /** Returns the name of a policy in the catalog, or its id if the document gives it one. */
  policyName(id: string, route: string): string {
    return id.startsWith(`${route}/`) ? (this.#uses.get(id) ?? id) : id
  }

  async adjust(bundle: ConfigBundle): Promise<ConfigBundle> {
    const texts = (bundle.routeTexts ?? bundle.plan.routes.map((route) => JSON.stringify(route))).map(logged)
    const routes = texts.map((text) => JSON.parse(text) as RoutePlan)
    this.#uses = new Map(routes.flatMap(({ policies }) => policies.map(({ id, use }) => [id, use])))
    this.#noteFiles(bundle)
    const upstreams = await this.#upstreams.replaceIn(bundle)
    // Development must not change the state of a controller or the records of a production log.
    const { control: _control, ...plan } = bundle.plan
    const adjusted: Plan = {
      ...plan,
      routes: [],
      upstreams,
      listeners: this.#listenersOf(plan.listeners),
      admin: { ...plan.admin, ...(await this.#adminAddress(plan.admin)) },
      log: {
        ...plan.log,
        ...{ sink: 'file', fields: 'full', outputs: [], unknownRoutes: true },
        file: { ...plan.log.file, dir: this.trafficDir },
      },
    }
    const mocks = JSON.stringify(this.mocked)
    const digest = createHash('sha256').update(bundle.digest).update(mocks).digest('hex')
    return { ...bundle, plan: adjusted, routeTexts: texts, digest }
  }

  #listenersOf(listeners: Plan['listeners']): Plan['listeners'] {
    const { host, port } = this.#options
    const used = new Set<string>()
    const open = host === null ? listeners.filter((one) => !isLoopback(one.host)) : []
    this.#closed = open.map(({ address }) => address)
    return listeners.map((one, i) => {
      const address = at(
        host ?? (isLoopback(one.host) ? one.host : LOOPBACK),
        i === 0 ? (port ?? one.port) : one.port,
      )
      // Several hosts with one port have become the same address.
      const isFree = !used.has(address.address)
      used.add(address.address)
      return { ...one, ...(isFree ? address : at(address.host, 0)) }
    })
  }

  #noteFiles({ values }: ConfigBundle): void {
    this.#files.clear()
    // The other values belong to references.
    for (const name of Object.keys(values).filter((one) => !one.startsWith('${'))) {
      const path = resolve(dirname(this.#options.config), name)
      this.#files.set(path, fileVersion(path))
    }
  }

  /** Moves the admin API to a free port at the start, if another process uses its port. */
  async #adminAddress(admin: Plan['admin']): Promise<Address> {
    this.#isAdminMoved ??= await probePort(admin.host, admin.port).then(
      () => false,
      () => true,
    )
    return at(admin.host, this.#isAdminMoved ? 0 : admin.port)
  }

  close(): void {
    this.#upstreams.close()
  }
}

function at(host: string, port: number): Address {
  return { host, port, address: `${host.includes(':') ? `[${host}]` : host}:${port}` }
}

function fileVersion(path: string): string {
  const { ino, size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return `${ino} ${size} ${mtimeMs}`
}

/** Returns a route with its traffic log enabled. */
function logged(text: string): string {
  if (!text.includes('"off":true')) return text
  return JSON.stringify({ ...(JSON.parse(text) as RoutePlan), log: null })
}
