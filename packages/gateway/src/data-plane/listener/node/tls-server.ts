import { readFileSync } from 'node:fs'
import type net from 'node:net'
import tls from 'node:tls'
import { TLS_CIPHERS } from '../tls-ciphers.js'

export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

/** TLS on the sockets of a listener. */
export interface TlsServer {
  /** Begins the handshake on a socket. */
  accept(socket: net.Socket): void
  /** Who gets the sockets whose handshake is done. */
  onSecure(receiver: (socket: tls.TLSSocket) => void): void
}

/** @throws Error when a certificate cannot be read. */
export function openTlsServer(
  files: TlsFiles,
  { hasHttp2, handshakeMs }: { readonly hasHttp2: boolean; readonly handshakeMs: number },
): TlsServer {
  const server = tls.createServer({
    cert: readFileSync(files.certFile),
    key: readFileSync(files.keyFile),
    ciphers: `${TLS_CIPHERS}:TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256`,
    minVersion: 'TLSv1.2',
    honorCipherOrder: true,
    ALPNProtocols: hasHttp2 ? ['h2', 'http/1.1'] : ['http/1.1'],
    handshakeTimeout: handshakeMs,
  })
  // Whoever fails at the handshake has no request that could be answered; its socket is closed already.
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  return {
    accept: (socket) => void server.emit('connection', socket),
    onSecure: (receiver) => void server.on('secureConnection', receiver),
  }
}
