import type net from 'node:net'
import type tls from 'node:tls'
import { Client, type Entry, ResultCodeError } from 'ldapts'
import { CheckedStream } from './checked-stream.js'
import { openTransport, type ServerAddress } from './transport.js'

/** Thrown if the directory's response cannot be used. The connection is still usable. */
export class UnusableResponse extends Error {}

/**
 * Thrown if a login must be refused although the directory works, for example if a filter matches several
 * entries.
 */
export class InvalidEntry extends UnusableResponse {}

/**
 * Result code of the directory other than success (RFC 4511, appendix A). The directory's message is not
 * kept.
 */
export class ResultCode extends UnusableResponse {
  readonly code: number

  constructor(code: number) {
    super(`the directory responded with result code ${code}`)
    this.code = code
  }
}

/** Parameters of a search. */
export interface Search {
  readonly base: string
  readonly scope: 'base' | 'one' | 'sub'
  /** Search filter (RFC 4515). */
  readonly filter: string
  readonly attributes: readonly string[]
  /** Maximum number of entries. More are an error. */
  readonly max: number
}

/** TLS options and timeouts of a connection. */
export interface ConnectOptions {
  readonly tls: tls.ConnectionOptions
  readonly connectMs: number
  readonly operationMs: number
}

/**
 * A connection to a directory, used by one login at a time. It is never reopened, because the bind would be
 * lost.
 */
export class LdapConnection {
  readonly #client: Client
  readonly openedMono = performance.now()
  /** DN that the connection is bound as, or null if anonymous. */
  boundAs: string | null = null
  /** Monotonic time when the connection was last returned to the pool, in milliseconds. */
  idleSince = 0

  private constructor(socket: net.Socket, operationMs: number) {
    let stream: CheckedStream | null = new CheckedStream(socket)
    this.#client = new Client({
      url: 'ldap://connected',
      timeout: operationMs,
      createConnection: () => {
        if (stream === null) throw new Error('the connection is closed')
        // The library uses only the parts of a socket that this stream has.
        const connected = stream as unknown as net.Socket
        stream = null
        return connected
      },
    })
  }

  /** Opens a connection. @throws Error that gives the reason if it fails. */
  static async open(server: ServerAddress, options: ConnectOptions): Promise<LdapConnection> {
    const socket = await openTransport(server, options.tls, options.connectMs)
    return new LdapConnection(socket, options.operationMs)
  }

  /** True if the connection is new, or has been used and is still open. */
  get isOpen(): boolean {
    return this.idleSince === 0 || this.#client.isConnected
  }

  /** Binds with a password. @throws ResultCode if the directory refuses, Error if it does not respond. */
  async bind(name: string, password: string): Promise<void> {
    // Many directories treat a bind without a password as anonymous and report success (RFC 4513, 5.1.2).
    if (password === '' || name === '') throw new ResultCode(49)
    this.boundAs = null
    await checked(this.#client.bind(name, password))
    this.boundAs = name
  }

  /** Makes the connection anonymous again. */
  async bindAnonymously(): Promise<void> {
    if (this.boundAs === null) return
    await checked(this.#client.bind('', ''))
    this.boundAs = null
  }

  /**
   * Returns the entries found. @throws InvalidEntry if there are more than `max`, UnusableResponse, or Error if
   * there is no response.
   */
  async search({ base, scope, filter, attributes, max }: Search): Promise<readonly Entry[]> {
    const { searchEntries } = await checked(
      this.#client.search(base, { scope, filter, attributes: [...attributes], sizeLimit: max + 1 }),
    ).catch((error: unknown) => {
      throw error instanceof ResultCode && error.code === SIZE_LIMIT ? tooMany(max) : error
    })
    if (searchEntries.length > max) throw tooMany(max)
    return searchEntries
  }

  /** Closes the connection, whatever it is doing. */
  close(): void {
    this.#client.unbind().catch(() => {})
  }
}

async function checked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    // The directory's message is dropped, because it may repeat the request.
    if (error instanceof ResultCodeError) throw new ResultCode(error.code)
    throw error
  }
}

/**
 * sizeLimitExceeded (RFC 4511, appendix A): there are more entries than requested, or than the directory
 * returns.
 */
const SIZE_LIMIT = 4

function tooMany(max: number): InvalidEntry {
  return new InvalidEntry(
    `a search matches more than ${max === 1 ? 'one entry' : `${max} entries`}, or more than the directory returns`,
  )
}
