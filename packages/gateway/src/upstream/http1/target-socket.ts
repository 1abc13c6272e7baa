import net from 'node:net'
import type { ConnectorOptions } from '../transport/connector.js'
import type { ReceivedHeads } from './response-reader.js'
import { UPLOAD_HIGH_WATER_BYTES } from './wire-upload.js'

/** Options for a connection to a target. */
export interface ConnectionOptions extends Pick<ConnectorOptions, 'owner' | 'openSocket'> {
  readonly host: string
  readonly port: number
  readonly lookup: net.LookupFunction
  readonly maxHeaderBytes: number
  /** Maximum age of a connection in milliseconds. Renewal makes it follow a changed address. */
  readonly maxConnectionAgeMs: number
  /** Cache of the target's response heads. */
  readonly headCache: ReceivedHeads
}

/**
 * Buffer for all reads of all connections. Bytes must be processed or copied before the next read. A buffer per
 * connection would need more memory than the rest of the connection.
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024)
/**
 * Opens a socket.
 * @param onRead called with the number of bytes in READ_BUFFER. Returns true if reading should go on.
 */
export function openSocket(options: ConnectionOptions, onRead: (length: number) => boolean): net.Socket {
  const { host, port, lookup, owner } = options
  const settings = {
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    writableHighWaterMark: UPLOAD_HIGH_WATER_BYTES,
    onread: { buffer: READ_BUFFER, callback: onRead },
  }
  return (
    options.openSocket?.({ host, port, tls: null, ...(owner === undefined ? {} : { owner }) }, settings) ??
    net.connect({ host, port, lookup, ...settings } as net.NetConnectOpts)
  )
}
