import { autonomousSystemOf, cityOf, continentOf, countryOf } from '@sluice/core'
import type { GeoFilterConfig } from './schema.js'

/** Places as listed in the configuration. */
export type PlaceListConfig = NonNullable<GeoFilterConfig['allow']>

/** True if an address is in a listed place. Null if that is unknown. */
export type Presence = boolean | null

/** A list of places. It contains an address if one of its entries does. */
export class PlaceList {
  readonly #countries: ReadonlySet<string>
  readonly #continents: ReadonlySet<string>
  readonly #networks: ReadonlySet<number>
  readonly #cities: ReadonlySet<string>

  constructor({ countries = [], continents = [], networks = [], cities = [] }: PlaceListConfig) {
    this.#countries = new Set(countries)
    this.#continents = new Set(continents)
    this.#networks = new Set(networks.map((network) => Number(network.slice(2))))
    this.#cities = new Set(cities.map((city) => city.toLowerCase()))
  }

  get needsNetworks(): boolean {
    return this.#networks.size > 0
  }

  /**
   * Checks an address. @param found database entry of the address. @param network database entry of its
   * autonomous system.
   */
  has(found: unknown, network: unknown): Presence {
    const country = countryOf(found)
    const city = cityOf(found)
    const place = country === null || city === null ? null : `${country}/${city}`.toLowerCase()
    const answers = [
      presence(this.#countries, country),
      presence(this.#continents, continentOf(found)),
      presence(this.#networks, autonomousSystemOf(network)),
      presence(this.#cities, place),
    ]
    if (answers.includes(true)) return true
    return answers.includes(null) ? null : false
  }
}

function presence<T>(set: ReadonlySet<T>, value: T | null): Presence {
  if (set.size === 0) return false
  return value === null ? null : set.has(value)
}
