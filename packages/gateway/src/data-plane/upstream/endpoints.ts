import type { LookupAddress, promises } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** One address of a target. */
export interface Endpoint {
  readonly address: string
  /** Null: that of the URL. */
  readonly port: number | null
  /** Below the smallest priority of a service; 0 for plain names. */
  readonly priority: number
  /** 1 to 100. */
  readonly weight: number
}

/** What the name servers say of a target. */
export interface Endpoints {
  /** In an order of their own. */
  readonly list: readonly Endpoint[]
  readonly ttlMs: number
}

/** Hosts of a service, and addresses of a target, that are used. */
const MAX_HOSTS = 64
const MAX_ENDPOINTS = 256
/** Of names that are not in the DNS, such as those of the hosts file. */
const SYSTEM_TTL_MS = 5000
/** The largest weight of an endpoint: a service may say up to 65,535. */
const MAX_WEIGHT = 100

interface Address {
  readonly address: string
  readonly ttl: number
}

/** Finds the endpoints of names: A, AAAA and SRV records, and what the system knows where there are none. */
export class EndpointFinder {
  readonly #resolver: promises.Resolver
  readonly #lookup: LookupFunction

  constructor(resolver: promises.Resolver, lookup: LookupFunction) {
    this.#resolver = resolver
    this.#lookup = lookup
  }

  /** The addresses of a host. @throws Error when there are none, or nobody says so. */
  async findHost(host: string): Promise<Endpoints> {
    const addresses = await this.#addressesOf(host)
    const list = addresses.map(({ address }) => ({ address, port: null, priority: 0, weight: 1 }))
    return { list: sorted(list), ttlMs: ttlOf(addresses) }
  }

  /**
   * The hosts and ports of a service (RFC 2782). Its own time to live is not known here; that of its hosts counts.
   * @throws Error when there are none, or nobody says so.
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
    return await this.#askSystem(host)
  }

  #askSystem(host: string): Promise<Address[]> {
    return new Promise((resolve, reject) => {
      this.#lookup(host, { all: true }, (error, found) => {
        if (error !== null) reject(error)
        else
          resolve((found as LookupAddress[]).map(({ address }) => ({ address, ttl: SYSTEM_TTL_MS / 1000 })))
      })
    })
  }
}

/** The name servers say that there is no such name, or no address. */
function isAbsent(error: { readonly code?: string }): boolean {
  return error.code === 'ENOTFOUND' || error.code === 'ENODATA'
}

function sorted(list: readonly Endpoint[]): Endpoint[] {
  const byKey = new Map(list.map((endpoint) => [keyOf(endpoint), endpoint]))
  const keys = [...byKey.keys()].sort().slice(0, MAX_ENDPOINTS)
  return keys.map((key) => byKey.get(key)!)
}

/** What distinguishes an endpoint from others of its target. */
export function keyOf({ address, port, priority, weight }: Endpoint): string {
  return `${address} ${port} ${priority} ${weight}`
}

function ttlOf(addresses: readonly Address[]): number {
  return Math.min(...addresses.map(({ ttl }) => ttl)) * 1000
}
