import { optionalFlag, optionalList, optionalOneOf, policyOptions, string } from '../../shared/options.js'

/** One list serves a hundred thousand ranges; more belong into a list of their own, not into the document. */
const MAX_RANGES = 100_000

function ranges(description: string) {
  return optionalList(string('An address or a range.', { minLength: 1, maxLength: 100 }), description, {
    minItems: 1,
    maxItems: MAX_RANGES,
  })
}

/** The configuration of `ip-filter`. */
export const ipFilterSchema = policyOptions(
  {
    allow: ranges('Who may call. When it is there, everybody else is refused.'),
    deny: ranges('Who may not call; wins over `allow`.'),
    source: optionalOneOf(
      ['client', 'peer'],
      'Which address is compared: `client` after the trusted proxies of the listener, `peer` the other end of the connection.',
      'client',
    ),
    dryRun: optionalFlag(
      false,
      'Refuses nobody; sets the variable `ip-filter` to `would-deny` where it would have refused.',
    ),
  },
  [
    'At least one of `allow` and `deny`. Ranges are written as `10.0.0.1`, `10.0.0.0/8`, `10.3.10.*`, `10.3.10.4-18`, `10.0.0.1-10.0.0.9`, `2001:db8::/32`; an IPv6 address that stands for an IPv4 address (`::ffff:10.0.0.1`, NAT64 `64:ff9b::10.0.0.1`) is in the ranges of that address too. `deny` also refuses addresses that are tunnelled from behind a denied IPv4 address: 6to4 (`2002::/16`), Teredo (`2001::/32`) and `::10.0.0.1`. Deny other NAT64 prefixes by themselves.',
    'Refused callers get 403 `GW_IP_DENIED`; the answer does not repeat the address. A text that is no address is refused like an address that is not allowed.',
  ],
  { minProperties: 1 },
)
