import { ipv4Number, readIpv6 } from '../../net/ip-address.js'

/** A network and its record: a value to encode, or raw record bytes. */
export type PlaceEntry = readonly [network: string, record: unknown]

interface DatabaseShape {
  readonly ipVersion?: 4 | 6
  readonly recordSize?: 24 | 28 | 32
  /** Overrides for the metadata. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

type Node = [left: Child, right: Child]
type Child = Node | { readonly at: number } | null

/** Builds a database in the MaxMind DB format for tests. Networks must not overlap. */
export function databaseOf(entries: readonly PlaceEntry[], shape: DatabaseShape = {}): Buffer {
  const { ipVersion = 6, recordSize = 24 } = shape
  const root: Node = [null, null]
  const data: Buffer[] = []
  let dataBytes = 0
  for (const [network, record] of entries) {
    const bytes = Buffer.isBuffer(record) ? record : valueBytes(record)
    insert(root, bitsOf(network, ipVersion), { at: dataBytes })
    data.push(bytes)
    dataBytes += bytes.length
  }
  const nodes = listOf(root)
  const children = nodes.flatMap((node) => node.map((child) => numberOf(child, nodes)))
  const metadata = {
    ...{ node_count: nodes.length, record_size: recordSize, ip_version: ipVersion },
    ...{ database_type: 'Test', languages: ['en'], binary_format_major_version: 2, ...shape.metadata },
  }
  const tree = treeBytes(children, recordSize)
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, valueBytes(metadata)])
}

/** Encodes a value for the data section. */
export function valueBytes(value: unknown): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'boolean') return control(14, value ? 1 : 0)
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(valueBytes)])
  if (typeof value === 'number') return numberBytes(value)
  const entries = Object.entries(value as object)
  return Buffer.concat([control(7, entries.length), ...entries.flat().map(valueBytes)])
}

/** Encodes the control bytes of a value: its type, and its size or number of entries. */
export function control(type: number, size: number): Buffer {
  const first = size < 29 ? size : size < 285 ? 29 : size < 65_821 ? 30 : 31
  const more = size < 29 ? 0 : size - [29, 285, 65_821][first - 29]!
  const tail = Buffer.alloc(Math.max(0, first - 28))
  if (tail.length > 0) tail.writeUIntBE(more, 0, tail.length)
  const head = type < 8 ? [(type << 5) | first] : [first, type - 7]
  return Buffer.concat([Buffer.from(head), tail])
}

/** Encodes a four-byte pointer into the data section. */
export function pointer(at: number): Buffer {
  const bytes = Buffer.of(0b00111000, 0, 0, 0, 0)
  bytes.writeUInt32BE(at, 1)
  return bytes
}

function numberBytes(value: number): Buffer {
  const isWhole = Number.isInteger(value) && value >= 0
  const bytes = Buffer.alloc(isWhole ? 4 : 8)
  if (isWhole) bytes.writeUInt32BE(value)
  else bytes.writeDoubleBE(value)
  return Buffer.concat([control(isWhole ? 6 : 3, bytes.length), bytes])
}

function bitsOf(network: string, ipVersion: 4 | 6): number[] {
  const [address, length] = network.split('/') as [string, string]
  const words = new Uint32Array(4)
  const ipv4 = ipv4Number(address)
  if (ipv4 === -1 && !readIpv6(address, words)) throw new Error(`${address} is not an IP address`)
  if (ipv4 !== -1) words[3] = ipv4
  const skipped = ipv4 !== -1 && ipVersion === 4 ? 96 : 0
  const count = Number(length) + (ipv4 !== -1 && ipVersion === 6 ? 96 : 0)
  return Array.from(
    { length: count },
    (_, i) => (words[(i + skipped) >> 5]! >>> (31 - ((i + skipped) & 31))) & 1,
  )
}

function insert(root: Node, bits: readonly number[], record: { readonly at: number }): void {
  let node = root
  for (const bit of bits.slice(0, -1)) {
    const child = node[bit as 0 | 1]
    if (Array.isArray(child)) node = child
    else {
      const fresh: Node = [null, null]
      node[bit as 0 | 1] = fresh
      node = fresh
    }
  }
  node[bits.at(-1) as 0 | 1] = record
}

function listOf(root: Node): Node[] {
  const nodes = [root]
  for (const node of nodes) for (const child of node) if (Array.isArray(child)) nodes.push(child)
  return nodes
}

function numberOf(child: Child, nodes: readonly Node[]): number {
  if (child === null) return nodes.length
  return Array.isArray(child) ? nodes.indexOf(child) : nodes.length + 16 + child.at
}

function treeBytes(children: readonly number[], recordSize: 24 | 28 | 32): Buffer {
  const tree = Buffer.alloc((children.length * recordSize) / 8)
  for (let i = 0; i < children.length; i += 2) {
    const [left, right] = [children[i]!, children[i + 1]!]
    const at = (i * recordSize) / 8
    if (recordSize === 28) {
      tree.writeUIntBE(left & 0xffffff, at, 3)
      tree[at + 3] = ((left >>> 24) << 4) | (right >>> 24)
      tree.writeUIntBE(right & 0xffffff, at + 4, 3)
    } else {
      tree.writeUIntBE(left, at, recordSize / 8)
      tree.writeUIntBE(right, at + recordSize / 8, recordSize / 8)
    }
  }
  return tree
}
