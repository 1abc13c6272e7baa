import { type Static, Type } from '@sinclair/typebox'
import {
  optionalClosed,
  optionalFile,
  optionalFlag,
  optionalList,
  optionalOneOf,
  policyOptions,
  string,
} from '../../shared/options.js'

function places(description: string) {
  return optionalClosed(description, {
    countries: optionalList(
      string('A country, ISO 3166-1 alpha-2: `TR`.', { pattern: '^[A-Z]{2}$' }),
      'Countries.',
      { minItems: 1, maxItems: 300 },
    ),
    continents: optionalList(
      Type.Union(
        ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'].map((code) => Type.Literal(code)),
        {
          description: 'A continent.',
        },
      ),
      'Continents: Africa, Antarctica, Asia, Europe, North America, Oceania, South America.',
      { minItems: 1, maxItems: 7 },
    ),
    networks: optionalList(
      string('An autonomous system: `AS64500`.', { pattern: '^AS[0-9]{1,10}$' }),
      'Autonomous systems, of providers and data centers.',
      { minItems: 1, maxItems: 10_000 },
    ),
    cities: optionalList(
      string('A country and the English name of a city: `DE/Berlin`.', {
        pattern: '^[A-Z]{2}/.+$',
        maxLength: 200,
      }),
      'Cities.',
      { minItems: 1, maxItems: 10_000 },
    ),
  })
}

const decision = ['allow', 'deny'] as const

/** The configuration of `geo-filter`. */
export const geoFilterSchema = policyOptions(
  {
    file: string(
      'A database in the MaxMind DB format, such as GeoLite2-Country.mmdb. It is read again when it has changed.',
      {
        minLength: 1,
        maxLength: 4096,
        path: true,
      },
    ),
    networkFile: optionalFile(
      'A database of autonomous systems, such as GeoLite2-ASN.mmdb. Default: `file` has them.',
    ),
    allow: places(
      'Who may call: callers of any of these places. When it is there, everybody else is refused.',
    ),
    deny: places('Who may not call; wins over `allow`.'),
    unknown: optionalOneOf(
      decision,
      'Callers of whom the database does not know what is asked for. Default: refused where there is an `allow`.',
    ),
    private: optionalOneOf(
      decision,
      'Callers from addresses that are no place: loopback, link-local, private (RFC 1918, RFC 4193) and shared ones (RFC 6598).',
      'allow',
    ),
    dryRun: optionalFlag(
      false,
      'Refuses nobody; sets the variable `geo-filter` to `would-deny` where it would have refused.',
    ),
  },
  [
    'At least one of `allow` and `deny`. The address is that of the client, after trusted proxies. Refused callers get 403 `GW_GEO_DENIED`.',
    'The database has to be there when the configuration is activated. Later it is looked each minute whether it has changed; while it cannot be read, the one read before serves on, and the event `geo_database` says so. Where it is damaged, requests of callers of there get 500, or go on with `onError: continue`.',
    'Each worker holds the database in memory, once for all uses, and the place of the last 10,000 addresses.',
  ],
)

/** The configuration of `geo-filter`, derived from its schema. */
export type GeoFilterConfig = Static<typeof geoFilterSchema>
