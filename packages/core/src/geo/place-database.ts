import { embeddedIpv4, ipv4Number, readIpv6 } from '../net/ip-address.js'
import { readRecord } from './place-record.js'

/** What the metadata at the end of a database begins with. */
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
/** The metadata has no more than this. */
const MAX_METADATA_BYTES = 128 * 1024
/** Between the search tree and the data. */
const SEPARATOR_BYTES = 16
/** Of an IPv6 tree, before the addresses of IPv4 begin. */
const IPV4_BITS = 96

const words = new Uint32Array(4)

/**
 * A database in the MaxMind DB format (its specification, version 2.0), in memory. Whoever makes the file decides what stands in
 * it: a look-up reads a bounded number of values, so that pointers in a circle, or sizes that are none, end it with an
 * Error. mmdb-lib 3.0.3, the reader that there is, makes an array of 16 million for three bytes that say so.
 */
export class PlaceDatabase {
  readonly ipVersion: 4 | 6
  readonly #bytes: Buffer
  readonly #nodes: number
  readonly #recordBits: number
  /** Of the search tree. */
  readonly #treeBytes: number
  /** Where the metadata begins, and the data ends. */
  readonly #dataEnd: number
  readonly #ipv4Node: number

  /** @throws Error for bytes that are no database. */
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
    if (bits !== 24 && bits !== 28 && bits !== 32) throw new Error('its records have a size that is none')
    if (version !== 4 && version !== 6) throw new Error('it is of no version of IP')
    if (typeof nodes !== 'number') throw new Error('it does not say how many nodes it has')
    this.#bytes = bytes
    this.#nodes = nodes
    this.#recordBits = bits
    this.#treeBytes = (nodes * bits) / 4
    if (nodes < 1 || this.#treeBytes + SEPARATOR_BYTES > this.#dataEnd) throw new Error('it is cut off')
    this.ipVersion = version
    this.#ipv4Node = version === 4 ? 0 : this.#walk(0, [0, 0, 0], IPV4_BITS)
  }

  /**
   * What is known of an address; null for one that is not known, and for text that is no address.
   * @throws Error where the database is damaged.
   */
  get(address: string): unknown {
    const ipv4 = ipv4Number(address)
    if (ipv4 !== -1) return this.#record(this.#walk(this.#ipv4Node, [ipv4], 32))
    if (!readIpv6(address, words)) return null
    const embedded = embeddedIpv4(words)
    if (embedded !== -1) return this.#record(this.#walk(this.#ipv4Node, [embedded], 32))
    // A database of IPv4 alone would take the first bits of the address for one of its own.
    return this.ipVersion === 4 ? null : this.#record(this.#walk(0, words, 128))
  }

  /** The node or record that some bits lead to. */
  #walk(from: number, bits: ArrayLike<number>, count: number): number {
    let node = from
    for (let i = 0; i < count && node < this.#nodes; i++) {
      node = this.#child(node, (bits[i >> 5]! >>> (31 - (i & 31))) & 1)
    }
    return node
  }

  #child(node: number, side: number): number {
    const bytes = this.#bytes
    const at = (node * this.#recordBits) / 4
    if (this.#recordBits === 24) return bytes.readUIntBE(at + 3 * side, 3)
    if (this.#recordBits === 32) return bytes.readUInt32BE(at + 4 * side)
    // The byte in the middle has the highest four bits of both.
    const middle = bytes[at + 3]!
    const high = side === 0 ? middle >> 4 : middle & 15
    return high * 2 ** 24 + bytes.readUIntBE(at + 4 * side, 3)
  }

  #record(found: number): unknown {
    // A node: the tree is deeper than addresses are long. Its number of nodes: nothing is known.
    if (found <= this.#nodes) return null
    const base = this.#treeBytes + SEPARATOR_BYTES
    const at = found - this.#nodes - SEPARATOR_BYTES + base
    return readRecord(this.#bytes, at, { base, end: this.#dataEnd })
  }
}
