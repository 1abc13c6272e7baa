import type { LookupAddress, promises } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** An address of a target. */
export interface Endpoint {
  readonly address: string
  /** Port, or null to use that of the URL. */
  readonly port: number | null
  /** Priority relative to the smallest of the service; 0 for plain names. */
  readonly priority: number
  /** Weight from 1 to 100. */
  readonly weight: number
}

/** DNS result for a target. */
export interface Endpoints {
  /** Endpoints in a stable order. */
  readonly list: readonly Endpoint[]
  readonly ttlMs: number
}

/** Maximum number of hosts of a service, and of addresses of a target. */
const MAX_HOSTS = 64
const MAX_ENDPOINTS = 256
/** TTL in milliseconds for names that are not in DNS, such as those of the hosts file. */
const SYSTEM_TTL_MS = 5000
/** Largest weight of an endpoint. SRV weights go up to 65,535 and are scaled. */
const MAX_WEIGHT = 100

interface Address {
  readonly address: string
  readonly ttl: number
}

/** Resolves names to endpoints: A, AAAA and SRV records, or the system lookup if there are none. */
export class EndpointFinder {
  readonly #resolver: promises.Resolver
  readonly #lookup: LookupFunction

  constructor(resolver: promises.Resolver, lookup: LookupFunction) {
    this.#resolver = resolver
    this.#lookup = lookup
  }

  /** Resolves the addresses of a host. @throws Error if there are none, or if the query fails. */
  async findHost(host: string): Promise<Endpoints> {
    const addresses = await this.#addressesOf(host)
    const list = addresses.map(({ address }) => ({ address, port: null, priority: 0, weight: 1 }))
    return { list: sorted(list), ttlMs: ttlOf(addresses) }
  }

  /**
   * Resolves the hosts and ports of a service (RFC 2782). The TTL of the SRV record is not available, so that of the
   * hosts counts.
   * @throws Error if there are none, or if the query fails.
   */
  async findService(name: string): Promise<Endpoints> {
    const records = (await this.#resolver.resolveSrv(name)).slice(0, MAX_HOSTS)
    const found = await Promise.allSettled(records.map((record) => this.#addressesOf(record.name)))
    const first = Math.min(...records.map(({ priority }) => priority))
    const heaviest = Math.max(1, ...records.map(({ weight }) => weight))
    const addresses: Address[] = []
    const list = records.flatMap(({ port, priority, weight }, i) => {
      const result = found[i]!
      if (result.status === 'rejected') return []
      addresses.push(...result.value)
      const share = Math.max(1, Math.round((weight / heaviest) * MAX_WEIGHT))
      return result.value.map(({ address }) => ({ address, port, priority: priority - first, weight: share }))
    })
    if (list.length === 0) throw new Error('no host of the service has an address')
    return { list: sorted(list), ttlMs: ttlOf(addresses) }
  }

  async #addressesOf(host: string): Promise<Address[]> {
    const answers = await Promise.allSettled([
      this.#resolver.resolve4(host, { ttl: true }),
      this.#resolver.resolve6(host, { ttl: true }),
    ])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const failed = answers.find((answer) => answer.status === 'rejected' && !isAbsent(answer.reason))
    if (failed?.status === 'rejected') throw failed.reason
    return await this.#lookUpSystem(host)
  }

  #lookUpSystem(host: string): Promise<Address[]> {
    return new Promise((resolve, reject) => {
      this.#lookup(host, { all: true }, (error, found) => {
        if (error !== null) reject(error)
        else
          resolve((found as LookupAddress[]).map(({ address }) => ({ address, ttl: SYSTEM_TTL_MS / 1000 })))
      })
    })
  }
}

/** Returns true if the name or the record type does not exist. */
function isAbsent(error: { readonly code?: string }): boolean {
  return error.code === 'ENOTFOUND' || error.code === 'ENODATA'
}

function sorted(list: readonly Endpoint[]): Endpoint[] {
  const byKey = new Map(list.map((endpoint) => [keyOf(endpoint), endpoint]))
  const keys = [...byKey.keys()].sort().slice(0, MAX_ENDPOINTS)
  return keys.map((key) => byKey.get(key)!)
}

/** Returns a key that is unique among the endpoints of a target. */
export function keyOf({ address, port, priority, weight }: Endpoint): string {
  return `${address} ${port} ${priority} ${weight}`
}

function ttlOf(addresses: readonly Address[]): number {
  return Math.min(...addresses.map(({ ttl }) => ttl)) * 1000
}
