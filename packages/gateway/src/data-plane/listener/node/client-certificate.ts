import type { TLSSocket } from 'node:tls'
import { type ClientCertificate, certificateFacts } from '@sluice/core'

/** The verified certificate of a client, also of a resumed session; null: it has shown none. */
export function clientCertificateOf(socket: TLSSocket): ClientCertificate | null {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined
  return certificate === undefined ? null : certificateFacts(certificate)
}
