import * as field from '../../shared/options/options.js'

/** Maximum number of ranges in a list. */
const MAX_RANGES = 100_000

function ranges(description: string) {
  return field.optionalList(
    field.string('An address or a range.', { minLength: 1, maxLength: 100 }),
    description,
    { minItems: 1, maxItems: MAX_RANGES },
  )
}

/** Schema of the configuration of `ip-filter`. */
export const ipFilterSchema = field.policyOptions(
  {
    allow: ranges('Addresses that are allowed. If set, all others are denied.'),
    deny: ranges('Addresses that are denied. Takes precedence over `allow`.'),
    source: field.optionalOneOf(
      ['client', 'peer'],
      'Address to check: `client` is the client after the trusted proxies of the listener, `peer` is the other end of the connection.',
      'client',
    ),
    dryRun: field.optionalFlag(
      false,
      'Denies no request. Sets the variable `ip-filter` to `would-deny` for requests that would have been denied.',
    ),
  },
  [
    'Configure `allow`, `deny` or both. Ranges are written as `10.0.0.1`, `10.0.0.0/8`, `10.3.10.*`, `10.3.10.4-18`, `10.0.0.1-10.0.0.9` or `2001:db8::/32`. An IPv6 address that maps to an IPv4 address (`::ffff:10.0.0.1`, NAT64 `64:ff9b::10.0.0.1`) also matches IPv4 ranges. `deny` also matches addresses tunnelled from a denied IPv4 address: 6to4 (`2002::/16`), Teredo (`2001::/32`), ISATAP (`::5efe:10.0.0.1` after any prefix), `::ffff:0:10.0.0.1` and `::10.0.0.1`. List other NAT64 prefixes explicitly.',
    'Denied callers get 403 `GW_IP_DENIED`. The response does not repeat the address. An invalid address is denied.',
  ],
  { minProperties: 1 },
)
