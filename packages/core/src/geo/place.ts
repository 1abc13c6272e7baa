/** What databases know of an address; some makers write it without the inner objects. */
interface Found {
  readonly country?: unknown
  readonly registered_country?: unknown
  readonly country_code?: unknown
  readonly continent?: unknown
  readonly continent_code?: unknown
  readonly city?: unknown
  readonly autonomous_system_number?: unknown
  readonly asn?: unknown
}

/** ISO 3166-1 alpha-2, and the codes of continents. */
const CODE = /^[A-Z]{2}$/

/** The country of what was found, ISO 3166-1 alpha-2; null: none is known. */
export function countryOf(found: unknown): string | null {
  const { country, country_code: flat, registered_country: registered } = fieldsOf(found)
  return code(member(country, 'iso_code') ?? flat ?? member(registered, 'iso_code') ?? country)
}

/** Its continent: AF, AN, AS, EU, NA, OC or SA; null: none is known. */
export function continentOf(found: unknown): string | null {
  const { continent, continent_code: flat } = fieldsOf(found)
  return code(member(continent, 'code') ?? flat ?? continent)
}

/** The English name of its city; null: none is known. */
export function cityOf(found: unknown): string | null {
  const { city } = fieldsOf(found)
  const name = member(member(city, 'names'), 'en') ?? city
  return typeof name === 'string' ? name : null
}

/** The number of its autonomous system; null: none is known. */
export function autonomousSystemOf(found: unknown): number | null {
  const { autonomous_system_number: number, asn } = fieldsOf(found)
  if (typeof number === 'number') return number
  if (typeof asn === 'number') return asn
  const digits = typeof asn === 'string' ? /^(?:AS)?(\d{1,10})$/.exec(asn) : null
  return digits === null ? null : Number(digits[1])
}

function fieldsOf(found: unknown): Found {
  return typeof found === 'object' && found !== null ? found : {}
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function code(value: unknown): string | null {
  return typeof value === 'string' && CODE.test(value) ? value : null
}
