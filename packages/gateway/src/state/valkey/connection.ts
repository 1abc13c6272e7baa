import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { StatePlan } from '@sluice/config'

/** One argument of a command. */
export type Argument = string | Buffer

/** One server, and how it is trusted and asked. */
export interface ServerPlan extends Pick<StatePlan, 'username' | 'password' | 'tls'> {
  /** `redis://` or `rediss://`, without a user. */
  readonly url: string
}

/** A connection to the server, made again and again while there is none. */
export interface ConnectionOptions {
  readonly plan: ServerPlan
  /** Null: it is there; else why not. Called when that changes. */
  readonly onChange: (problem: string | null) => void
}

/** Why there is no connection before it has been tried. */
export const BEGINNING = 'is not connected yet'

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 5000
/** For the connection, and for what it begins with. */
const CONNECT_MS = 5000

/** Only a key that is there turns off the default of 5 s. */
const NO_TIMEOUT: object = { timeout: undefined }

type Library = Awaited<ReturnType<typeof loadLibrary>>
type Client = ReturnType<typeof clientOf>

/** The one connection of a worker to Valkey or Redis. While it is down, commands fail at once. */
export class ValkeyConnection {
  /** Loaded when a document first names a server: it is a sixth of what a gateway loads to start. */
  static #library: Promise<Library> | null = null
  readonly #options: ConnectionOptions
  #client: Client | null = null
  #isUp = false
  #failures = 0
  #retry: NodeJS.Timeout | null = null
  #isClosed = false
  #problem = BEGINNING

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#connect()
  }

  /** Why there is none; null: there is one. */
  get problem(): string | null {
    return this.#isUp ? null : this.#problem
  }

  /** @throws what the server or the connection says; at once when there is none. */
  async send(args: readonly Argument[]): Promise<unknown> {
    if (!this.#isUp || this.#client === null) throw new Error(this.#problem)
    return this.#client.sendCommand([...args])
  }

  /** Gives up this connection for a new one. */
  drop(problem: string): void {
    const client = this.#client
    this.#client = null
    this.#lose(problem)
    destroy(client)
  }

  close(): void {
    this.#isClosed = true
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.drop('is closed')
  }

  #connect(): void {
    this.#retry = null
    ValkeyConnection.#library ??= loadLibrary()
    ValkeyConnection.#library
      .then((library) => this.#open(library))
      .catch((error) => this.#lose(textOf(error)))
  }

  #open(library: Library): void {
    if (this.#isClosed || this.#client !== null) return
    const client = clientOf(library, this.#options.plan)
    this.#client = client
    const lose = (error: unknown): void => {
      if (this.#client !== client) return
      this.drop(textOf(error))
    }
    client.on('error', lose)
    client.on('end', () => lose(new Error('closed the connection')))
    // One that is stopped accepts connections and greets nobody.
    const late = setTimeout(() => lose(new Error('did not greet in time')), CONNECT_MS).unref()
    client
      .connect()
      .then(() => this.#gain(client), lose)
      .finally(() => clearTimeout(late))
  }

  #gain(client: Client): void {
    if (this.#client !== client) return
    this.#isUp = true
    this.#failures = 0
    this.#options.onChange(null)
  }

  #lose(problem: string): void {
    this.#isUp = false
    this.#problem = problem
    if (this.#isClosed) return
    this.#options.onChange(problem)
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#failures++, 10))
    // Workers that lose the server together do not come back together.
    this.#retry ??= setTimeout(() => this.#connect(), longest * (0.5 + Math.random() / 2)).unref()
  }
}

/** All clients are of one class: one with all commands for each, as `createClient` makes it, costs 10 ms and more. */
async function loadLibrary() {
  const { RedisClient, RESP_TYPES } = await import('@redis/client')
  return { makeClient: RedisClient.factory({ RESP: 2 }), RESP_TYPES }
}

/** @throws Error when the file of the authority cannot be read. */
function clientOf({ makeClient, RESP_TYPES }: Library, { url, username, password, tls }: ServerPlan) {
  const { protocol, hostname, port, pathname } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const common = {
    host,
    port: Number(port || 6379),
    connectTimeout: CONNECT_MS,
    reconnectStrategy: false,
    keepAlive: true,
  } as const
  const socket = protocol === 'redis:' ? common : { ...common, tls: true as const, ...tlsOptions(tls, host) }
  const options = {
    socket,
    database: Number(pathname.slice(1)),
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    name: 'sluice',
    disableOfflineQueue: true,
    // With RESP3 a server could send the client to another host ("maintenance notifications").
    RESP: 2,
    maintNotifications: 'disabled',
    // Its own deadlines cost an AbortSignal a command; the store has one clock for all.
    commandOptions: { ...NO_TIMEOUT, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  } as const
  return makeClient(options)
}

function tlsOptions(tls: StatePlan['tls'], host: string) {
  // An address is no name (RFC 6066, 3).
  const servername = tls.serverName ?? (isIP(host) === 0 ? host : null)
  return {
    ...(servername === null ? {} : { servername }),
    rejectUnauthorized: !tls.insecure,
    ...(tls.caFile === null ? {} : { ca: readFileSync(tls.caFile) }),
  }
}

function destroy(client: Client | null): void {
  // Those that are under way learn of it by their own failure.
  client?.on('error', () => {})
  if (client?.isOpen === true) client.destroy()
}

function textOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error)
}
