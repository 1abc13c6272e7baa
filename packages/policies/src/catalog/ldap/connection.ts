import type net from 'node:net'
import type tls from 'node:tls'
import { Client, type Entry, ResultCodeError } from 'ldapts'
import { CheckedStream } from './checked-stream.js'
import { openTransport, type ServerAddress } from './transport.js'

/** The directory has answered, and nothing can be done with it. The connection is as good as before. */
export class UnusableAnswer extends Error {}

/** An entry that names nobody, such as one of several that a filter finds: the directory works, and the login is refused. */
export class UnfitEntry extends UnusableAnswer {}

/** What a directory has answered that is no success: its code (RFC 4511, appendix A), and no more of it. */
export class ResultCode extends UnusableAnswer {
  readonly code: number

  constructor(code: number) {
    super(`the directory has answered with code ${code}`)
    this.code = code
  }
}

/** What is asked of a search. */
export interface Search {
  readonly base: string
  readonly scope: 'base' | 'one' | 'sub'
  /** RFC 4515. */
  readonly filter: string
  readonly attributes: readonly string[]
  /** Most entries; one more is an error. */
  readonly max: number
}

export interface ConnectOptions {
  readonly tls: tls.ConnectionOptions
  readonly connectMs: number
  readonly operationMs: number
}

/** One connection to a directory, used by one at a time. It is never opened again: what was bound would not be any more. */
export class LdapConnection {
  readonly #client: Client
  readonly openedMono = performance.now()
  /** Who it is bound as; null: nobody. */
  boundAs: string | null = null
  /** When it was put back last. */
  idleSince = 0

  private constructor(socket: net.Socket, operationMs: number) {
    let stream: CheckedStream | null = new CheckedStream(socket)
    this.#client = new Client({
      url: 'ldap://connected',
      timeout: operationMs,
      createConnection: () => {
        if (stream === null) throw new Error('the connection has ended')
        // The library asks for no more of a socket than this stream has.
        const connected = stream as unknown as net.Socket
        stream = null
        return connected
      },
    })
  }

  /** @throws Error that says why there is none. */
  static async open(server: ServerAddress, options: ConnectOptions): Promise<LdapConnection> {
    const socket = await openTransport(server, options.tls, options.connectMs)
    return new LdapConnection(socket, options.operationMs)
  }

  /** Whether it can be used, or has been used and is still there. */
  get isOpen(): boolean {
    return this.idleSince === 0 || this.#client.isConnected
  }

  /** @throws ResultCode where the directory says no, Error where there is no answer. */
  async bind(name: string, password: string): Promise<void> {
    // RFC 4513, 5.1.2: many directories take a bind without a password for one of nobody, and say that it is done.
    if (password === '' || name === '') throw new ResultCode(49)
    this.boundAs = null
    await answered(this.#client.bind(name, password))
    this.boundAs = name
  }

  /** Makes it nobody's again. */
  async bindNobody(): Promise<void> {
    if (this.boundAs === null) return
    await answered(this.#client.bind('', ''))
    this.boundAs = null
  }

  /** Returns the entries found. @throws UnfitEntry for more than `max`, UnusableAnswer, or Error where there is no answer. */
  async search({ base, scope, filter, attributes, max }: Search): Promise<readonly Entry[]> {
    const { searchEntries } = await answered(
      this.#client.search(base, { scope, filter, attributes: [...attributes], sizeLimit: max + 1 }),
    ).catch((error: unknown) => {
      throw error instanceof ResultCode && error.code === SIZE_LIMIT ? tooMany(max) : error
    })
    if (searchEntries.length > max) throw tooMany(max)
    return searchEntries
  }

  /** Ends it, whatever it is doing. */
  close(): void {
    this.#client.unbind().catch(() => {})
  }
}

async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    // The directory's own words stay with it: they may repeat what it was asked.
    if (error instanceof ResultCodeError) throw new ResultCode(error.code)
    throw error
  }
}

/** sizeLimitExceeded (RFC 4511, appendix A): there is more than was asked for, or than the directory gives out. */
const SIZE_LIMIT = 4

function tooMany(max: number): UnfitEntry {
  return new UnfitEntry(
    `a search finds more than ${max === 1 ? 'one entry' : `${max} entries`}, or than the directory gives out`,
  )
}
