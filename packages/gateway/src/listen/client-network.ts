/** Returns the key under which a client's connections are counted: the IPv4 address, or the /64 of an IPv6 address. */
export function clientNetwork(address: string): string {
  // After the NAT64 prefix, each address stands for one IPv4 address.
  if (!address.includes(':') || address.startsWith('64:ff9b::')) return address
  const [start = '', end] = address.split('::')
  const groups = start === '' ? [] : start.split(':')
  if (end !== undefined) {
    const behind = end === '' ? 0 : end.split(':').length
    while (groups.length < 8 - behind) groups.push('0')
  }
  return groups.slice(0, 4).join(':')
}
