import { messageOf } from '../output/failure.js'

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed without a response',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'temporary DNS failure',
  EPROTO: 'it does not use TLS',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed certificate; trust it with NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: 'unknown certificate authority; trust it with NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unknown certificate authority; trust it with NODE_EXTRA_CA_CERTS',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
}

/** Describes an error code of a connection, or returns null for a rare one. */
export function reasonOfCode(code: string): string | null {
  return REASONS[code] ?? null
}

/** Describes why a request got no response. */
export function connectionReason(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return `no response within ${timeoutMs / 1000} s`
  // A host with several addresses fails with one error per address; the first one represents them.
  if (error instanceof AggregateError) return connectionReason(error.errors[0], timeoutMs)
  const code = 'code' in error ? String(error.code) : ''
  if (code.startsWith('HPE_')) return 'it does not use HTTP'
  return reasonOfCode(code) ?? messageOf(error)
}
