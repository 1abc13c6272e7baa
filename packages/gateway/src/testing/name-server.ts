import dgram from 'node:dgram'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** Answer of the name server for a name. */
export type NameAnswer =
  | 'NXDOMAIN'
  | 'SERVFAIL'
  | 'empty'
  | 'silence'
  | { readonly addresses: readonly string[]; readonly ttl?: number }
  | { readonly services: readonly Service[] }

export interface Service {
  readonly name: string
  readonly port: number
  readonly priority?: number
  readonly weight?: number
}

const TYPES = { A: 1, SRV: 33 }
const RCODES = { SERVFAIL: 2, NXDOMAIN: 3 }
const HEAD_BYTES = 12

/** A DNS server on a local port (RFC 1035). */
export class NameServer {
  /** Answers by name. */
  readonly names = new Map<string, NameAnswer>()
  /** Number of queries for IPv4 addresses and services. */
  asked = 0
  address = ''

  static async start(t: TestContext, names: Readonly<Record<string, NameAnswer>>): Promise<NameServer> {
    const server = new NameServer()
    for (const [name, answer] of Object.entries(names)) server.names.set(name, answer)
    const socket = dgram.createSocket('udp4')
    socket.on('message', (query, { port, address }) => {
      const reply = server.#answer(query)
      if (reply !== null) socket.send(reply, port, address)
    })
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    server.address = `127.0.0.1:${(socket.address() as AddressInfo).port}`
    t.after(() => socket.close())
    return server
  }

  #answer(query: Buffer): Buffer | null {
    const { name, type, end } = readQuestion(query)
    const answer = this.names.get(name) ?? 'NXDOMAIN'
    if (type === TYPES.A || type === TYPES.SRV) this.asked++
    if (answer === 'silence') return null
    const records = typeof answer === 'string' ? [] : recordsOf(answer, type)
    const code = answer === 'NXDOMAIN' || answer === 'SERVFAIL' ? RCODES[answer] : 0
    const head = Buffer.from(query.subarray(0, HEAD_BYTES))
    head.writeUInt16BE(0x8180 | code, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(records.length, 6)
    head.writeUInt32BE(0, 8)
    return Buffer.concat([head, query.subarray(HEAD_BYTES, end), ...records])
  }
}

function readQuestion(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = []
  let at = HEAD_BYTES
  for (; query[at] !== 0; at += query[at]! + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function recordsOf(answer: Exclude<NameAnswer, string>, type: number): Buffer[] {
  if ('addresses' in answer) {
    if (type !== TYPES.A) return []
    return answer.addresses.map((address) =>
      record(type, answer.ttl ?? 1, Buffer.from(address.split('.').map(Number))),
    )
  }
  if (type !== TYPES.SRV) return []
  return answer.services.map(({ name, port, priority = 0, weight = 0 }) => {
    const numbers = Buffer.alloc(6)
    numbers.writeUInt16BE(priority, 0)
    numbers.writeUInt16BE(weight, 2)
    numbers.writeUInt16BE(port, 4)
    return record(type, 1, Buffer.concat([numbers, nameBytes(name)]))
  })
}

/** Encodes a record for the queried name. */
function record(type: number, ttl: number, data: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(ttl, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function nameBytes(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.from(String.fromCharCode(label.length) + label, 'latin1'))
  return Buffer.concat([...labels, Buffer.from([0])])
}
