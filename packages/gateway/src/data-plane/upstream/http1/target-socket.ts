import net from 'node:net'
import type { ReceivedHeads } from './response-reader.js'
import { UPLOAD_HIGH_WATER_BYTES } from './wire-upload.js'

export interface ConnectionOptions {
  readonly host: string
  readonly port: number
  readonly lookup: net.LookupFunction
  readonly maxHeaderBytes: number
  /** It is renewed after this time, so that a changed name is followed. */
  readonly maxConnectionAgeMs: number
  /** Of the target's responses. */
  readonly headCache: ReceivedHeads
}

/**
 * All reads of all connections go here: what is read is used up before the next read begins, or copied by whom it has
 * to wait for. A buffer for each connection would cost more memory than everything else that belongs to it.
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024)
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
