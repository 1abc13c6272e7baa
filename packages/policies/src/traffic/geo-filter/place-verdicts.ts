import { type CidrSet, compileCidrs, Memo, type PlaceDatabase, type PlaceFile } from '@sluice/core'
import { PlaceList } from './place-list.js'
import type { GeoFilterConfig } from './schema.js'

/** Number of cached decisions. */
const REMEMBERED = 10_000

/** Loopback, link-local, private and shared addresses. */
const PRIVATE: CidrSet = compileCidrs([
  ...['127.0.0.0/8', '169.254.0.0/16', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'],
  ...['::1/128', 'fe80::/10', 'fc00::/7'],
])

/** Decides which addresses may call, using the current databases. */
export class PlaceVerdicts {
  readonly #places: PlaceFile
  readonly #networks: PlaceFile
  readonly #allow: PlaceList | null
  readonly #deny: PlaceList | null
  readonly #unknown: boolean
  readonly #private: boolean
  readonly #remembered = new Memo<boolean>(REMEMBERED, (address) => this.#decide(address))
  /** Databases from which the cached decisions were made. */
  #from: readonly [PlaceDatabase | null, PlaceDatabase | null] = [null, null]

  /** @param networks database of autonomous systems. */
  constructor(config: GeoFilterConfig, places: PlaceFile, networks: PlaceFile) {
    this.#places = places
    this.#networks = networks
    this.#allow = config.allow === undefined ? null : new PlaceList(config.allow)
    this.#deny = config.deny === undefined ? null : new PlaceList(config.deny)
    this.#unknown = config.unknown === undefined ? this.#allow === null : config.unknown === 'allow'
    this.#private = config.private !== 'deny'
  }

  /** @throws Error if the database is damaged. */
  isAllowed(address: string): boolean {
    const [places, networks] = this.#from
    if (places !== this.#places.database || networks !== this.#networks.database) {
      this.#from = [this.#places.database, this.#networks.database]
      this.#remembered.clear()
    }
    return this.#remembered.get(address)
  }

  #decide(address: string): boolean {
    if (PRIVATE.has(address)) return this.#private
    const [places, networks] = this.#from
    if (places === null || networks === null) throw new Error('the place database has not been read')
    const found = places.get(address)
    const needsNetworks = this.#allow?.needsNetworks === true || this.#deny?.needsNetworks === true
    const network = needsNetworks && networks !== places ? networks.get(address) : found
    const denied = this.#deny === null ? false : this.#deny.has(found, network)
    if (denied === true) return false
    const allowed = this.#allow === null ? true : this.#allow.has(found, network)
    if (denied === null || allowed === null) return this.#unknown
    return allowed
  }
}
