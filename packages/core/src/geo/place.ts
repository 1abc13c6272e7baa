/** Database record of an address. Some vendors use flat fields instead of nested objects. */
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

/** ISO 3166-1 alpha-2 country code, or continent code. */
const CODE = /^[A-Z]{2}$/

/** Returns the country of a record (ISO 3166-1 alpha-2), or null if unknown. */
export function countryOf(found: unknown): string | null {
  const { country, country_code: flat, registered_country: registered } = fieldsOf(found)
  return code(member(country, 'iso_code') ?? flat ?? member(registered, 'iso_code') ?? country)
}

/** Returns the continent of a record: AF, AN, AS, EU, NA, OC or SA, or null if unknown. */
export function continentOf(found: unknown): string | null {
  const { continent, continent_code: flat } = fieldsOf(found)
  return code(member(continent, 'code') ?? flat ?? continent)
}

/** Returns the English name of the city of a record, or null if unknown. */
export function cityOf(found: unknown): string | null {
  const { city } = fieldsOf(found)
  const name = member(member(city, 'names'), 'en') ?? city
  return typeof name === 'string' ? name : null
}

/** Returns the autonomous system number of a record, or null if unknown. */
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
