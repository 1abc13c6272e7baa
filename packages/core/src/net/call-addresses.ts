import { compileCidrs } from './cidr.js'

/** Returns true if calls may go to an address. */
export type AddressRule = (address: string) => boolean

/** Shorthand for all private networks in an address list. */
export const PRIVATE = 'private'

/** RFC 1918, RFC 6598, RFC 4193 and loopback. */
const PRIVATE_RANGES = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1',
  'fc00::/7',
]

/** Link-local addresses, and addresses at which cloud providers serve instance credentials. */
const METADATA_RANGES = [
  '169.254.0.0/16',
  'fe80::/10',
  // AWS, Google Cloud, Alibaba Cloud, Oracle Cloud, Azure.
  'fd00:ec2::/32',
  'fd20:ce::/32',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
]

/**
 * Other special-purpose addresses that are not globally reachable (RFC 6890), and addresses that embed
 * another address.
 */
const SPECIAL_RANGES = [
  '0.0.0.0/8',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // IPv4 in IPv6: IPv4-compatible, IPv4-translated, NAT64, Teredo, 6to4.
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2001::/23',
  '2002::/16',
  '100::/64',
  '2001:db8::/32',
  'fec0::/10',
  'ff00::/8',
]

const metadata = compileCidrs(METADATA_RANGES)
const privateNetworks = compileCidrs(PRIVATE_RANGES)
const special = compileCidrs([...METADATA_RANGES, ...PRIVATE_RANGES, ...SPECIAL_RANGES])

/**
 * Returns true if an address is link-local or a cloud metadata address. Calls go there only if the address is
 * listed explicitly.
 */
export function isMetadataAddress(address: string): boolean {
  return metadata.hasOrTunnels(address)
}

/**
 * Compiles the rule for outgoing calls. Public addresses and listed ones are allowed. A list entry is an
 * address or range as in `compileCidrs`, or `private`, which excludes metadata addresses.
 * @throws RangeError if an entry is invalid.
 */
export function compileCallAddresses(allowed: readonly string[]): AddressRule {
  const listed = compileCidrs(allowed.filter((text) => text !== PRIVATE))
  const allowsPrivate = allowed.includes(PRIVATE)
  return (address) => {
    if (listed.has(address)) return true
    if (metadata.hasOrTunnels(address)) return false
    return allowsPrivate && privateNetworks.has(address) ? true : !special.hasOrTunnels(address)
  }
}
