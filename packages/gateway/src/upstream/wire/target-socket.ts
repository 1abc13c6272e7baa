import net from 'node:net'
import type { KnownHeads } from './known-heads.js'
import type { KnownLines } from './known-lines.js'
import { UPLOAD_HIGH_WATER_BYTES } from './wire-upload.js'

export interface ConnectionOptions {
  readonly host: string
  readonly port: number
  readonly lookup: net.LookupFunction
  readonly maxHeaderBytes: number
  /** It is renewed after this time, so that a changed name is followed. */
  readonly maxConnectionAgeMs: number
  /** What is remembered of the target's response heads: field by field, and as a whole. */
  readonly knownLines: KnownLines
  readonly knownHeads: KnownHeads
}

/**
 * All reads of all connections go here: what is read is used up before the next read begins, or copied by whom it has
 * to wait for. A buffer for each connection would cost more memory than everything else that belongs to it.
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024)
const READ_MEMORY = READ_BUFFER.buffer

/** The last parts of the common buffer, by their length: what is read of one target mostly has the same parts. */
const PARTS = new Array<Uint8Array>(8).fill(new Uint8Array(READ_MEMORY, 0, 0))

/** A part of bytes that were read, valid during the call that hands it on only: a later part may be the same object. */
export function partOf(bytes: Buffer, from: number, to: number): Uint8Array {
  if (bytes !== READ_BUFFER) return bytes.subarray(from, to)
  const length = to - from
  const place = length & (PARTS.length - 1)
  const known = PARTS[place]!
  if (known.length === length && known.byteOffset === from) return known
  const part = new Uint8Array(READ_MEMORY, from, length)
  PARTS[place] = part
  return part
}

/** @param onRead hears how much stands in READ_BUFFER, and answers whether reading goes on. */
export function openSocket(options: ConnectionOptions, onRead: (length: number) => boolean): net.Socket {
  return net.connect({
    host: options.host,
    port: options.port,
    lookup: options.lookup,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    writableHighWaterMark: UPLOAD_HIGH_WATER_BYTES,
    onread: { buffer: READ_BUFFER, callback: onRead },
  } as net.NetConnectOpts)
}
