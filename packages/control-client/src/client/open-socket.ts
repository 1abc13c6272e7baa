import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** Secrets and certificates of a connection. */
export interface Credentials {
  /** Bearer token, or null. */
  readonly token: string | null
  /** CA certificates in place of the system's, PEM, or null. */
  readonly ca: string | null
  /** Client certificate and key, PEM, or null. */
  readonly client: { readonly cert: string; readonly key: string } | null
  /**
   * SHA-256 fingerprints of certificates, lower-case hexadecimal without colons. If not empty, the controller must have
   * one of these certificates. Without `ca`, nothing else is checked then.
   */
  readonly fingerprints: readonly string[]
}

/**
 * Opens a connection to a controller and checks its certificate, before anything is sent.
 * @throws Error if it is not the controller, or cannot be reached in time
 */
export async function openSocket(url: URL, credentials: Credentials, timeoutMs: number): Promise<Socket> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (url.protocol !== 'https:')
    return connected(connectTcp({ host, port: Number(url.port || 80) }), 'connect', timeoutMs)
  const { ca, client, fingerprints } = credentials
  const isPinnedOnly = ca === null && fingerprints.length > 0
  const socket = connectTls({
    host,
    port: Number(url.port || 443),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === null ? {} : { ca }),
    ...(client ?? {}),
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: !isPinnedOnly,
  })
  await connected(socket, 'secureConnect', timeoutMs)
  if (fingerprints.length > 0 && !fingerprints.includes(fingerprintOf(socket))) {
    const actual = fingerprintOf(socket)
    socket.destroy()
    throw new Error(
      `the controller has another certificate than the pinned one (its fingerprint is ${actual})`,
    )
  }
  return socket
}

function fingerprintOf(socket: TLSSocket): string {
  return (socket.getPeerCertificate().fingerprint256 ?? '').replaceAll(':', '').toLowerCase()
}

function connected<S extends Socket>(socket: S, event: string, timeoutMs: number): Promise<S> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`)),
      timeoutMs,
    )
    const end = (): void => {
      clearTimeout(timer)
      socket.off('error', fail)
    }
    const fail = (error: Error): void => {
      end()
      reject(error)
    }
    socket.once('error', fail)
    socket.once(event, () => {
      end()
      // Until the WebSocket listens. It then finds the socket closed.
      socket.on('error', () => {})
      resolve(socket)
    })
  })
}
