import type { CityResponse } from 'mmdb-lib'

/** Of what databases know of an address, what records hold; some makers write it without the inner objects. */
type Found = Pick<CityResponse, 'country' | 'registered_country' | 'location'> & {
  readonly country_code?: unknown
  readonly latitude?: unknown
  readonly longitude?: unknown
}

/** ISO 3166-1 alpha-2. */
const COUNTRY = /^[A-Z]{2}$/
/** Four decimals are eleven metres; no database is that exact. */
const SCALE = 10_000

/** `,"country":"TR","geo":{"lat":41.01,"lon":28.96}`, or as much of it as is known. */
export function placeText(found: CityResponse | null): string {
  if (found === null) return ''
  const { country, registered_country, location, ...flat } = found as Found
  const code = country?.iso_code ?? flat.country_code ?? registered_country?.iso_code
  const lat = degrees(location?.latitude ?? flat.latitude, 90)
  const lon = degrees(location?.longitude ?? flat.longitude, 180)
  return (
    (typeof code === 'string' && COUNTRY.test(code) ? `,"country":"${code}"` : '') +
    (lat === null || lon === null ? '' : `,"geo":{"lat":${lat},"lon":${lon}}`)
  )
}

function degrees(value: unknown, most: number): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || !(Math.abs(number) <= most)) return null
  return Math.round(number * SCALE) / SCALE
}
