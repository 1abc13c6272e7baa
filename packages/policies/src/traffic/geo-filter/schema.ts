import { type Static, Type } from '@sinclair/typebox'
import * as field from '../../shared/options/options.js'
import { fileSource } from '../../shared/options/text-source.js'

function places(description: string) {
  return field.optionalClosed(description, {
    countries: field.optionalList(
      field.string('A country code (ISO 3166-1 alpha-2), such as `TR`.', { pattern: '^[A-Z]{2}$' }),
      'Countries.',
      { minItems: 1, maxItems: 300 },
    ),
    continents: field.optionalList(
      Type.Union(
        ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'].map((code) => Type.Literal(code)),
        { description: 'A continent code.' },
      ),
      'Continents: Africa, Antarctica, Asia, Europe, North America, Oceania, South America.',
      { minItems: 1, maxItems: 7 },
    ),
    networks: field.optionalList(
      field.string('An autonomous system, such as `AS64500`.', { pattern: '^AS[0-9]{1,10}$' }),
      'Autonomous systems of providers and data centers.',
      { minItems: 1, maxItems: 10_000 },
    ),
    cities: field.optionalList(
      field.string('A country code and the English name of a city, such as `DE/Berlin`.', {
        pattern: '^[A-Z]{2}/.+$',
        maxLength: 200,
      }),
      'Cities.',
      { minItems: 1, maxItems: 10_000 },
    ),
  })
}

const decision = ['allow', 'deny'] as const

/** Schema of the configuration of `geo-filter`. */
export const geoFilterSchema = field.policyOptions(
  {
    database: fileSource('the database in the MaxMind DB format, such as GeoLite2-Country.mmdb'),
    networkDatabase: Type.Optional(
      fileSource('the database of autonomous systems, such as GeoLite2-ASN.mmdb. Default: `database`'),
    ),
    allow: places('Places from which callers are allowed. If set, all other callers are denied.'),
    deny: places('Places from which callers are denied. Takes precedence over `allow`.'),
    unknown: field.optionalOneOf(
      decision,
      'Decision for callers whose location is not in the database. Default: `deny` if there is an `allow`, otherwise `allow`.',
    ),
    private: field.optionalOneOf(
      decision,
      'Decision for addresses without a location: loopback, link-local, private (RFC 1918, RFC 4193) and shared addresses (RFC 6598).',
      'allow',
    ),
    dryRun: field.optionalFlag(
      false,
      'Denies no request. Sets the variable `geo-filter` to `would-deny` for requests that would have been denied.',
    ),
  },
  [
    'Configure `allow`, `deny` or both. The client address is determined after trusted proxies. Denied callers get 403 `GW_GEO_DENIED`.',
    'The database must exist when the configuration is activated. After that it is checked for changes every minute. If it cannot be read, the previous one stays in use and the event `geo_database` is logged. If an entry is damaged, requests from its addresses get 500, or continue with `onError: continue`.',
    'Each worker keeps the database in memory once for all uses, and caches the decisions for the last 10,000 addresses.',
  ],
  { deprecatedKeys: { file: 'database', networkFile: 'networkDatabase' } },
)

/** Configuration of `geo-filter`, derived from its schema. */
export type GeoFilterConfig = Static<typeof geoFilterSchema>
