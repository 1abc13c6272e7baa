import { isIP } from 'node:net'
import type { StatePlan } from '@sluice/config'
import { readTlsFiles } from '@sluice/core'

/** Argument of a command. */
export type Argument = string | Buffer

/** Address and credentials of one server. */
export interface ServerPlan extends Pick<StatePlan, 'username' | 'password' | 'tls'> {
  /** Server URL with `redis://` or `rediss://`, without a user. */
  readonly url: string
}

/** Options for `ValkeyConnection`. */
export interface ConnectionOptions {
  readonly plan: ServerPlan
  /** Called with null when the connection is established, or with the reason when it is lost. */
  readonly onChange: (problem: string | null) => void
}

/** Problem reported before the first connection attempt has finished. */
export const NOT_CONNECTED = 'is not connected yet'

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 5000
/** Timeout in milliseconds for connecting and the initial commands. */
const CONNECT_MS = 5000

/** Disables the default timeout of 5 s, which only a key that is present does. */
const NO_TIMEOUT: object = { timeout: undefined }

type Library = Awaited<ReturnType<typeof loadLibrary>>
type Client = ReturnType<typeof clientOf>

/**
 * A worker's only connection to a Valkey or Redis server. It reconnects automatically; until then, commands
 * fail immediately.
 */
export class ValkeyConnection {
  /**
   * Loaded when a document first uses a server, because it is a sixth of the code that a gateway loads at
   * start.
   */
  static #library: Promise<Library> | null = null
  readonly #options: ConnectionOptions
  #client: Client | null = null
  #isUp = false
  #failures = 0
  #retry: NodeJS.Timeout | null = null
  #isClosed = false
  #problem = NOT_CONNECTED

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#connect()
  }

  /** Reason why there is no connection, or null. */
  get problem(): string | null {
    return this.#isUp ? null : this.#problem
  }

  /** Sends a command. @throws the error of the server or the connection; immediately if there is none. */
  async send(args: readonly Argument[]): Promise<unknown> {
    if (!this.#isUp || this.#client === null) throw new Error(this.#problem)
    return this.#client.sendCommand([...args])
  }

  /** Drops this connection and opens a new one. */
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
    // A stopped server accepts connections but never answers.
    const late = setTimeout(() => lose(new Error('did not answer the handshake in time')), CONNECT_MS).unref()
    client
      .connect()
      .then(() => this.#onConnected(client), lose)
      .finally(() => clearTimeout(late))
  }

  #onConnected(client: Client): void {
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
    // Random delays, so that workers that lose the server together do not all reconnect at once.
    this.#retry ??= setTimeout(() => this.#connect(), longest * (0.5 + Math.random() / 2)).unref()
  }
}

/**
 * Loads the client library. All clients share one class: `createClient` would build one with all commands
 * each time, which takes at least 10 ms.
 */
async function loadLibrary() {
  const { RedisClient, RESP_TYPES } = await import('@redis/client')
  return { makeClient: RedisClient.factory({ RESP: 2 }), RESP_TYPES }
}

/** Creates a client. @throws Error if the CA file cannot be read. */
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
    // With RESP3, a server could redirect the client to another host ("maintenance notifications").
    RESP: 2,
    maintNotifications: 'disabled',
    // The library's timeouts cost an AbortSignal per command. The store has one timer for all.
    commandOptions: { ...NO_TIMEOUT, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
  } as const
  return makeClient(options)
}

function tlsOptions(tls: StatePlan['tls'], host: string) {
  // IP addresses are not valid server names (RFC 6066, 3).
  const servername = tls.servername ?? (isIP(host) === 0 ? host : null)
  return {
    ...(servername === null ? {} : { servername }),
    rejectUnauthorized: !tls.insecure,
    ...readTlsFiles({ caFile: tls.caFile }),
  }
}

function destroy(client: Client | null): void {
  // Pending commands report their own failure.
  client?.on('error', () => {})
  if (client?.isOpen === true) client.destroy()
}

function textOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error)
}
