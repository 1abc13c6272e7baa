import type { TLSSocket } from 'node:tls'
import { type ClientCertificate, certificateFacts } from '@sluice/core'

/** Returns the client's verified certificate, or null if it has sent none. Also works for resumed sessions. */
export function clientCertificateOf(socket: TLSSocket): ClientCertificate | null {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined
  return certificate === undefined ? null : certificateFacts(certificate)
}
