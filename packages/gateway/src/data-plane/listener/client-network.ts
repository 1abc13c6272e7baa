/** Who stands for the connections of an address: itself; of IPv6, who has one address has all of its /64. */
export function clientNetwork(address: string): string {
  // Behind the prefix of NAT64 each address is one of IPv4.
  if (!address.includes(':') || address.startsWith('64:ff9b::')) return address
  const [start = '', end] = address.split('::')
  const groups = start === '' ? [] : start.split(':')
  if (end !== undefined) {
    const behind = end === '' ? 0 : end.split(':').length
    while (groups.length < 8 - behind) groups.push('0')
  }
  return groups.slice(0, 4).join(':')
}
