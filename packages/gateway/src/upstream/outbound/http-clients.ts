import { isIP, type LookupFunction } from 'node:net'
import {
  type Counter,
  compileCallAddresses,
  type HttpAnswer,
  type HttpCall,
  HttpCallFailed,
  type HttpClient,
  type HttpClientOptions,
} from '@sluice/core'
import type { Closer, SharedTable } from '../../lib/shared-table.js'
import { hostOf, portOf, readTls } from '../transport/connect-options.js'
import type { Network } from '../transport/network.js'
import { guardedLookup } from './guarded-lookup.js'
import type { CallBounds } from './outbound-call.js'
import { OutboundPool } from './outbound-pool.js'

/** Dependencies of HTTP clients. */
export interface HttpClientSource {
  readonly shared: SharedTable
  readonly network: Network
  /** Receives cleanup functions. */
  readonly closers: Closer[]
  readonly count: (family: string, labels: Readonly<Record<string, string>>) => Counter
}

/** Creates an HTTP client for policies. @throws Error for an invalid origin or an unreadable file. */
export function createHttpClient(options: HttpClientOptions, source: HttpClientSource): HttpClient {
  const { shared, network, closers, count } = source
  const url = originOf(options.origin)
  const { connectMs = 1000, connections = 32, maxPending = 256 } = options
  const { headersMs = 5000, totalMs = 10_000, maxResponseBytes = 1024 * 1024 } = options
  const tls = url.protocol === 'https:' ? readTls(tlsPlan(options.tls)) : null
  const sharing = { origin: url.origin, tls, connectMs, connections, maxPending }
  const { addresses } = options
  const lookup = addresses === undefined ? network.lookup : lookupWithin(addresses, url, network)
  const { value: pool, release } = shared.acquire(
    `http-client:${JSON.stringify([sharing, addresses ?? null])}`,
    () => {
      const place = { authority: url.host, host: hostOf(url), port: portOf(url) }
      return new OutboundPool({ ...sharing, ...network, lookup, ...place })
    },
  )
  closers.push(release)
  const counters = (result: string): Counter =>
    count('gw_outbound_calls_total', { origin: url.origin, result })
  return new PooledClient(pool, { headersMs, totalMs, maxResponseBytes }, counters)
}

/**
 * Returns a lookup limited to the allowed addresses.
 * @throws Error if the origin is an IP address that is not allowed.
 */
function lookupWithin(allowed: readonly string[], url: URL, { lookup }: Network): LookupFunction {
  const mayCall = compileCallAddresses(allowed)
  const host = hostOf(url)
  // IP addresses skip the lookup, so check them here.
  if (isIP(host) !== 0 && !mayCall(host))
    throw new Error(`calls to ${host} are not allowed; add the address to the allowed list`)
  return guardedLookup(lookup, mayCall)
}

function originOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/'
  if (isOrigin && url.search === '' && url.hash === '' && url.username === '' && url.password === '')
    return url
  throw new Error('invalid server address: use http://host:port or https://host')
}

function tlsPlan(tls: HttpClientOptions['tls']): Parameters<typeof readTls>[0] {
  const { caFile = null, certFile = null, keyFile = null, servername = null, insecure = false } = tls ?? {}
  return { caFile, certFile, keyFile, servername, insecure, minVersion: 'TLSv1.2', pins: [] }
}

/** An HTTP client with its own limits that shares the connection pool of its origin. */
class PooledClient implements HttpClient {
  readonly #pool: OutboundPool
  readonly #bounds: CallBounds
  readonly #counterOf: (result: string) => Counter
  /** Calls in progress that identical calls can join. */
  readonly #joined = new Map<string, Promise<HttpAnswer>>()

  constructor(pool: OutboundPool, bounds: CallBounds, counterOf: (result: string) => Counter) {
    this.#pool = pool
    this.#bounds = bounds
    this.#counterOf = counterOf
  }

  call(call: HttpCall): Promise<HttpAnswer> {
    if (call.coalesce !== true) return this.#send(call)
    const { method, path, headers = [], body } = call
    const key = JSON.stringify([method, path, headers, body ? Buffer.from(body).toString('latin1') : null])
    const under = this.#joined.get(key)
    if (under !== undefined) return under
    const answer = this.#send(call).finally(() => this.#joined.delete(key))
    this.#joined.set(key, answer)
    return answer
  }

  async #send(call: HttpCall): Promise<HttpAnswer> {
    try {
      const answer = await this.#pool.call(call, this.#bounds)
      this.#counterOf('answered').value++
      return answer
    } catch (error) {
      this.#counterOf(error instanceof HttpCallFailed ? error.failure : 'invalid').value++
      throw error
    }
  }
}
