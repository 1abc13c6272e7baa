import { embeddedIpv4, ipv4Number, isIpv4Mapped, readIpv6, tunnelIpv4 } from './ip-address.js'

/** Inclusive range of addresses as 32-bit words: one word for IPv4, four for IPv6. */
export interface CidrRange {
  readonly family: 4 | 6
  readonly first: readonly number[]
  readonly last: readonly number[]
}

/** A set of addresses. A lookup is one binary search over sorted, disjoint ranges. */
export interface CidrSet {
  /** Returns true if the address is in the set. Returns false for invalid addresses. Never allocates. */
  has(ip: string): boolean
  /**
   * Like `has`, but also checks the IPv4 address embedded in a tunnel address (see `tunnelIpv4`). Use it for
   * deny lists.
   */
  hasOrTunnels(ip: string): boolean
}

/**
 * Compiles ranges (see `parseCidr`) into a set. An IPv6 address that embeds an IPv4 address (see
 * `embeddedIpv4`) matches IPv4 ranges too. An IPv4-mapped address matches only IPv4 ranges, so that `::/0`
 * contains only IPv6 addresses.
 * @throws RangeError if a text is not a range.
 */
export function compileCidrs(ranges: readonly string[]): CidrSet {
  const parsed = ranges.map(parseCidr)
  return new RangeSet(
    merge(parsed.filter((range) => range.family === 4)),
    merge(parsed.filter((range) => range.family === 6)),
  )
}

/**
 * Parses an address (`10.0.0.1`, `2001:db8::1`), a CIDR range (`10.0.0.0/8`), a wildcard (`10.3.10.*`), a
 * range of last octets (`10.3.10.4-18`) or a full range (`10.0.0.1-10.0.0.9`).
 * @throws RangeError if the text is none of these.
 */
export function parseCidr(text: string): CidrRange {
  const range = text.includes('*')
    ? parseWildcard(text)
    : text.includes('/')
      ? parsePrefix(text)
      : text.includes('-')
        ? parseSpan(text)
        : parseSingle(text)
  if (range === null) throw notARange(text)
  return unmapped(range)
}

function notARange(text: string): RangeError {
  return new RangeError(
    `'${text}' is not an address or a range; use for example 10.0.0.1, 10.0.0.0/8, 10.3.10.*, 10.3.10.4-18 or 2001:db8::/32`,
  )
}

function parseSingle(text: string): CidrRange | null {
  const words = addressWords(text)
  return words === null ? null : { family: words.length === 1 ? 4 : 6, first: words, last: words }
}

/**
 * Returns an address as one or four words, or null. Zone IDs are rejected, because they differ between hosts.
 */
function addressWords(text: string): number[] | null {
  const v4 = ipv4Number(text)
  if (v4 !== -1) return [v4]
  const words = new Uint32Array(4)
  return !text.includes('%') && readIpv6(text, words) ? [...words] : null
}

function parsePrefix(text: string): CidrRange | null {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text)
  const words = match === null ? null : addressWords(match[1]!)
  if (match === null || words === null) return null
  const bits = Number(match[2])
  const most = words.length * 32
  if (bits > most) throw new RangeError(`'${text}' has a prefix of ${bits} bits; use at most /${most}`)
  const masks = words.map((_, i) => mask(bits - 32 * i))
  return {
    family: words.length === 1 ? 4 : 6,
    first: words.map((word, i) => (word & masks[i]!) >>> 0),
    last: words.map((word, i) => (word | ~masks[i]!) >>> 0),
  }
}

/**
 * Returns a mask of the first `bits` bits of a word. The ends are special cases because shift counts are
 * modulo 32.
 */
function mask(bits: number): number {
  if (bits <= 0) return 0
  return bits >= 32 ? 0xffffffff : (0xffffffff << (32 - bits)) >>> 0
}

/** Parses a range with trailing wildcard octets: `10.3.10.*`, `10.3.*.*`. */
function parseWildcard(text: string): CidrRange | null {
  if (!/^\d+(\.\d+){0,2}(\.\*)+$/.test(text)) return null
  const first = ipv4Number(text.replaceAll('*', '0'))
  const last = ipv4Number(text.replaceAll('*', '255'))
  return first === -1 || last === -1 ? null : { family: 4, first: [first], last: [last] }
}

function parseSpan(text: string): CidrRange | null {
  const dash = text.indexOf('-')
  const start = text.slice(0, dash)
  const end = text.slice(dash + 1)
  const first = addressWords(start)
  const last = addressWords(/^\d{1,3}$/.test(end) ? start.slice(0, start.lastIndexOf('.') + 1) + end : end)
  if (first === null || last === null || first.length !== last.length) return null
  if (compareWords(first, last) > 0)
    throw new RangeError(`'${text}' ends before it begins; put the lower address first`)
  return { family: first.length === 1 ? 4 : 6, first, last }
}

/** Converts an IPv6 range within ::ffff:0:0/96 to the IPv4 range it maps. */
function unmapped(range: CidrRange): CidrRange {
  const isMapped = isIpv4Mapped(Uint32Array.from(range.first)) && isIpv4Mapped(Uint32Array.from(range.last))
  if (range.family === 4 || !isMapped) return range
  return { family: 4, first: [range.first[3]!], last: [range.last[3]!] }
}

function compareWords(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!
  }
  return 0
}

/** Sorts ranges by first address and joins overlapping ones. */
function merge(ranges: readonly CidrRange[]): CidrRange[] {
  const merged: CidrRange[] = []
  for (const range of ranges.toSorted((a, b) => compareWords(a.first, b.first))) {
    const previous = merged.at(-1)
    if (previous === undefined || compareWords(range.first, previous.last) > 0) merged.push(range)
    else if (compareWords(range.last, previous.last) > 0)
      merged[merged.length - 1] = { ...previous, last: range.last }
  }
  return merged
}

/**
 * Range bounds in parallel arrays, one pair per address family:
 *
 *     v4First  10.0.0.0        192.168.1.0          v6First  w w w w  w w w w
 *     v4Last   10.255.255.255  192.168.1.255        v6Last   w w w w  w w w w
 */
class RangeSet implements CidrSet {
  readonly #v4First: Uint32Array
  readonly #v4Last: Uint32Array
  readonly #v6First: Uint32Array
  readonly #v6Last: Uint32Array
  readonly #words = new Uint32Array(4)

  constructor(v4: readonly CidrRange[], v6: readonly CidrRange[]) {
    this.#v4First = Uint32Array.from(v4.flatMap((range) => range.first))
    this.#v4Last = Uint32Array.from(v4.flatMap((range) => range.last))
    this.#v6First = Uint32Array.from(v6.flatMap((range) => range.first))
    this.#v6Last = Uint32Array.from(v6.flatMap((range) => range.last))
  }

  has(ip: string): boolean {
    const v4 = ipv4Number(ip)
    if (v4 !== -1) return this.#hasV4(v4)
    if (!readIpv6(ip, this.#words)) return false
    const embedded = embeddedIpv4(this.#words)
    if (embedded !== -1 && this.#hasV4(embedded)) return true
    return !isIpv4Mapped(this.#words) && this.#hasV6()
  }

  hasOrTunnels(ip: string): boolean {
    if (this.has(ip)) return true
    const tunnel = readIpv6(ip, this.#words) ? tunnelIpv4(this.#words) : -1
    return tunnel !== -1 && this.#hasV4(tunnel)
  }

  #hasV4(address: number): boolean {
    const first = this.#v4First
    let low = 0
    let high = first.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (first[middle]! <= address) low = middle + 1
      else high = middle
    }
    return low > 0 && address <= this.#v4Last[low - 1]!
  }

  #hasV6(): boolean {
    let low = 0
    let high = this.#v6First.length / 4
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareAt(this.#v6First, middle * 4, this.#words) <= 0) low = middle + 1
      else high = middle
    }
    return low > 0 && compareAt(this.#v6Last, (low - 1) * 4, this.#words) >= 0
  }
}

/**
 * Compares the four words at an offset with an address. Returns a negative number, zero or a positive number.
 */
function compareAt(bounds: Uint32Array, offset: number, words: Uint32Array): number {
  for (let i = 0; i < 4; i++) {
    if (bounds[offset + i] !== words[i]) return bounds[offset + i]! - words[i]!
  }
  return 0
}
