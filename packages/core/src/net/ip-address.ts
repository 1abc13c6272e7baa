const DOT = 46
const COLON = 58

/** Value of each hexadecimal digit plus one. 0 for all other characters. */
const HEX = new Uint8Array(128)
for (let i = 0; i < 16; i++) {
  HEX['0123456789abcdef'.charCodeAt(i)] = i + 1
  HEX['0123456789ABCDEF'.charCodeAt(i)] = i + 1
}

/** Groups of the IPv6 address being parsed. Reused because parsing is synchronous and on the hot path. */
const groups = new Uint16Array(8)

/**
 * Parses an IPv4 address to an unsigned 32-bit number. Returns -1 if the text is invalid or has leading
 * zeros.
 */
export function ipv4Number(text: string): number {
  return readIpv4(text, 0, text.length)
}

/**
 * Parses an IPv6 address into four 32-bit words, most significant first. Returns false if the text is
 * invalid. A zone ID (`fe80::1%eth0`) is ignored, because it names a local interface and is not part of the
 * address.
 */
export function readIpv6(text: string, words: Uint32Array): boolean {
  const zone = text.indexOf('%')
  if (zone === text.length - 1 && zone !== -1) return false
  if (!readGroups(text, zone === -1 ? text.length : zone)) return false
  for (let i = 0; i < 4; i++) words[i] = groups[2 * i]! * 65536 + groups[2 * i + 1]!
  return true
}

/** Returns true for an IPv4-mapped address, `::ffff:a.b.c.d`. The fourth word is then the IPv4 address. */
export function isIpv4Mapped(words: Uint32Array): boolean {
  return words[0] === 0 && words[1] === 0 && words[2] === 0xffff
}

/** First word of the NAT64 prefix 64:ff9b::/96 (RFC 6052). */
const NAT64 = 0x0064ff9b

/**
 * Returns the IPv4 address embedded in an IPv6 address, or -1. The address may be IPv4-mapped
 * (`::ffff:a.b.c.d`) or translated by NAT64 (`64:ff9b::a.b.c.d`).
 */
export function embeddedIpv4(words: Uint32Array): number {
  const isTranslated = words[0] === NAT64 && words[1] === 0 && words[2] === 0
  return isTranslated || isIpv4Mapped(words) ? words[3]! : -1
}

/** Third word of an ISATAP address. The bit 0x02000000 is set if the IPv4 address is globally unique. */
const ISATAP = 0x00005efe

/**
 * Returns the IPv4 address of a tunnel address, or -1. The address may be IPv4-compatible (`::a.b.c.d` except
 * `::` and `::1`, RFC 4291), IPv4-translated (`::ffff:0:a.b.c.d`, RFC 2765), 6to4 (`2002::/16`, RFC 3056), Teredo
 * (`2001::/32`, RFC 4380) or ISATAP (any prefix with `::5efe:a.b.c.d`, RFC 5214). A deny rule for the IPv4 address
 * should also cover the tunnel address. An allow rule should not.
 */
export function tunnelIpv4(words: Uint32Array): number {
  const [first = 0, second = 0, third = 0, last = 0] = words
  if (first >>> 16 === 0x2002) return (((first & 0xffff) << 16) | (second >>> 16)) >>> 0
  if (first === 0x20010000) return ~last >>> 0
  if ((third & ~0x02000000) === ISATAP) return last
  if (first !== 0 || second !== 0) return -1
  if (third === 0xffff0000) return last
  return third === 0 && last > 0xffffff ? last : -1
}

const checked = new Uint32Array(4)

/** Returns true if the text is an IPv4 or IPv6 address. */
export function isIpAddress(text: string): boolean {
  return ipv4Number(text) !== -1 || readIpv6(text, checked)
}

const network = new Uint32Array(4)

/**
 * Returns the network that identifies a client: its IPv4 address (including embedded ones), or the first 64
 * bits of its IPv6 address, because a client controls the other 64 bits. Text that is not an address is
 * returned unchanged.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':') || !readIpv6(address, network)) return address
  const v4 = embeddedIpv4(network)
  if (v4 !== -1) return `${v4 >>> 24}.${(v4 >>> 16) & 255}.${(v4 >>> 8) & 255}.${v4 & 255}`
  const [high, low] = [network[0]!, network[1]!]
  return `${groupsOf(high)}:${groupsOf(low)}::/64`
}

function groupsOf(word: number): string {
  return `${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`
}

/** Returns a bracketed IPv6 address in the canonical spelling of RFC 5952. The address must be valid. */
export function canonicalIpv6(bracketed: string): string {
  return new URL(`http://${bracketed}`).hostname
}

function readIpv4(text: string, start: number, end: number): number {
  if (end - start > 15) return -1
  let address = 0
  let octet = -1
  let octets = 0
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    if (code === DOT) {
      if (octet === -1 || ++octets > 3) return -1
      address = address * 256 + octet
      octet = -1
    } else {
      if (code < 48 || code > 57 || octet === 0) return -1
      octet = octet === -1 ? code - 48 : octet * 10 + code - 48
      if (octet > 255) return -1
    }
  }
  return octets === 3 && octet !== -1 ? address * 256 + octet : -1
}

/**
 * Parses `text[0, end)` into `groups`: up to eight groups of up to four digits, at most one "::", and
 * optionally an IPv4 address at the end.
 */
function readGroups(text: string, end: number): boolean {
  let count = 0
  let gap = -1
  let i = 0
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return false
    gap = 0
    i = 2
  }
  while (i < end) {
    if (count === 8) return false
    const start = i
    let value = 0
    for (let digit = hexDigit(text, i, end); digit !== -1; digit = hexDigit(text, ++i, end))
      value = value * 16 + digit
    if (i < end && text.charCodeAt(i) === DOT)
      return count < 7 && readTail(text, start, end, count) && closeGap(count + 2, gap)
    if (i === start || i - start > 4) return false
    groups[count++] = value
    if (i === end) break
    if (text.charCodeAt(i) !== COLON || ++i === end) return false
    if (text.charCodeAt(i) === COLON) {
      if (gap !== -1) return false
      gap = count
      i++
    }
  }
  return closeGap(count, gap)
}

/** Parses the IPv4 address at the end of an IPv6 address into two groups. */
function readTail(text: string, start: number, end: number, count: number): boolean {
  const address = readIpv4(text, start, end)
  if (address === -1) return false
  groups[count] = address >>> 16
  groups[count + 1] = address & 0xffff
  return true
}

/** Moves the groups after "::" to the end and fills the gap with zeros. */
function closeGap(count: number, gap: number): boolean {
  if (gap === -1) return count === 8
  if (count === 8) return false
  groups.copyWithin(8 - count + gap, gap, count)
  groups.fill(0, gap, 8 - count + gap)
  return true
}

function hexDigit(text: string, at: number, end: number): number {
  const code = at < end ? text.charCodeAt(at) : 0
  return code < 128 ? HEX[code]! - 1 : -1
}
