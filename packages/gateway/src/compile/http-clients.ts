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
import { guardedLookup } from '../data-plane/upstream/guarded-lookup.js'
import type { Network } from '../data-plane/upstream/network.js'
import type { CallBounds } from '../data-plane/upstream/outbound-call.js'
import { OutboundPool } from '../data-plane/upstream/outbound-pool.js'
import type { Closer, SharedTable } from './shared-table.js'
import { hostOf, portOf } from './targets.js'
import { readTls } from './upstream-tls.js'

/** Where the connections of clients are kept, and who counts their calls. */
export interface HttpClientSource {
  readonly shared: SharedTable
  readonly network: Network
  /** Receives what lets go of them. */
  readonly closers: Closer[]
  readonly count: (family: string, labels: Readonly<Record<string, string>>) => Counter
}

/** A client of a snapshot's policies. @throws Error for an origin that is none, or a file that cannot be read. */
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

/** @throws Error when the origin is an address that calls may not go to. */
function lookupWithin(allowed: readonly string[], url: URL, { lookup }: Network): LookupFunction {
  const mayCall = compileCallAddresses(allowed)
  const host = hostOf(url)
  // Nobody looks up what is an address already.
  if (isIP(host) !== 0 && !mayCall(host))
    throw new Error(`calls may not go to ${host}; list it if they shall`)
  return guardedLookup(lookup, mayCall)
}

function originOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/'
  if (isOrigin && url.search === '' && url.hash === '' && url.username === '' && url.password === '')
    return url
  throw new Error('the server to call is not given as http://host:port or https://host')
}

function tlsPlan(tls: HttpClientOptions['tls']): Parameters<typeof readTls>[0] {
  const { caFile = null, certFile = null, keyFile = null, servername = null, insecure = false } = tls ?? {}
  return { caFile, certFile, keyFile, servername, insecure, minVersion: 'TLSv1.2', pins: [] }
}

/** One use of the connections to an origin, with bounds of its own. */
class PooledClient implements HttpClient {
  readonly #pool: OutboundPool
  readonly #bounds: CallBounds
  readonly #counterOf: (result: string) => Counter
  /** Calls under way that others may join. */
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
