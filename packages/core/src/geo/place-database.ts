import { embeddedIpv4, ipv4Number, readIpv6 } from '../net/ip-address.js'
import { readRecord } from './place-record.js'

/** Marks the beginning of the metadata at the end of a database. */
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
/** Maximum size of the metadata section. */
const MAX_METADATA_BYTES = 128 * 1024
/** Size of the separator between the search tree and the data section. */
const SEPARATOR_BYTES = 16
/** Number of leading zero bits before the IPv4 addresses in an IPv6 tree. */
const IPV4_BITS = 96

const words = new Uint32Array(4)

/**
 * Reader for databases in the MaxMind DB format (specification 2.0), held in memory. The file is not trusted:
 * a lookup reads a bounded number of values, so pointer loops and invalid sizes cause an error. The library
 * mmdb-lib 3.0.3 instead allocates an array of 16 million entries for three malicious bytes.
 */
export class PlaceDatabase {
  readonly ipVersion: 4 | 6
  readonly #bytes: Buffer
  readonly #nodes: number
  readonly #recordBits: number
  /** Size of the search tree. */
  readonly #treeBytes: number
  /** Offset at which the data section ends and the metadata begins. */
  readonly #dataEnd: number
  readonly #ipv4Node: number

  /** @throws Error if the bytes are not a database. */
  constructor(bytes: Buffer) {
    const tail = Math.max(0, bytes.length - MAX_METADATA_BYTES)
    const at = bytes.subarray(tail).lastIndexOf(MARKER)
    if (at === -1) throw new Error('it is not a database in the MaxMind DB format')
    this.#dataEnd = tail + at
    const start = this.#dataEnd + MARKER.length
    const metadata = readRecord(bytes, start, { base: start, end: bytes.length }) as Readonly<
      Record<string, unknown>
    >
    const { node_count: nodes, record_size: bits, ip_version: version } = metadata ?? {}
    if (bits !== 24 && bits !== 28 && bits !== 32)
      throw new Error('the record size in its metadata is invalid')
    if (version !== 4 && version !== 6) throw new Error('the IP version in its metadata is invalid')
    if (typeof nodes !== 'number') throw new Error('its metadata has no node count')
    this.#bytes = bytes
    this.#nodes = nodes
    this.#recordBits = bits
    this.#treeBytes = (nodes * bits) / 4
    if (nodes < 1 || this.#treeBytes + SEPARATOR_BYTES > this.#dataEnd) throw new Error('it is truncated')
    this.ipVersion = version
    this.#ipv4Node = version === 4 ? 0 : this.#walk(0, [0, 0, 0], IPV4_BITS)
  }

  /**
   * Returns the record of an address, or null if the address is unknown or invalid.
   * @throws Error if the database is damaged.
   */
  get(address: string): unknown {
    const ipv4 = ipv4Number(address)
    if (ipv4 !== -1) return this.#record(this.#walk(this.#ipv4Node, [ipv4], 32))
    if (!readIpv6(address, words)) return null
    const embedded = embeddedIpv4(words)
    if (embedded !== -1) return this.#record(this.#walk(this.#ipv4Node, [embedded], 32))
    // An IPv4-only database would interpret the first bits of an IPv6 address as an IPv4 address.
    return this.ipVersion === 4 ? null : this.#record(this.#walk(0, words, 128))
  }

  /** Follows the given bits from a node and returns the node or record they lead to. */
  #walk(from: number, bits: ArrayLike<number>, count: number): number {
    let node = from
    for (let i = 0; i < count && node < this.#nodes; i++)
      node = this.#child(node, (bits[i >> 5]! >>> (31 - (i & 31))) & 1)
    return node
  }

  #child(node: number, side: number): number {
    const bytes = this.#bytes
    const at = (node * this.#recordBits) / 4
    if (this.#recordBits === 24) return bytes.readUIntBE(at + 3 * side, 3)
    if (this.#recordBits === 32) return bytes.readUInt32BE(at + 4 * side)
    // The middle byte holds the highest four bits of both children.
    const middle = bytes[at + 3]!
    const high = side === 0 ? middle >> 4 : middle & 15
    return high * 2 ** 24 + bytes.readUIntBE(at + 4 * side, 3)
  }

  #record(found: number): unknown {
    // Less than the node count: the tree is deeper than an address is long. Equal: no record.
    if (found <= this.#nodes) return null
    const base = this.#treeBytes + SEPARATOR_BYTES
    const at = found - this.#nodes - SEPARATOR_BYTES + base
    return readRecord(this.#bytes, at, { base, end: this.#dataEnd })
  }
}
