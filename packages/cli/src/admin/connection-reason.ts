import { messageOf } from '../failure.js'

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed without an answer',
  EHOSTUNREACH: 'no way to this host',
  ENETUNREACH: 'no way to this network',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EPROTO: 'it does not speak TLS',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed certificate; trust it with NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: 'unknown certificate authority; trust it with NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unknown certificate authority; trust it with NODE_EXTRA_CA_CERTS',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
}

/** What an error code of a connection means; null: it is none of those that are met often. */
export function reasonOfCode(code: string): string | null {
  return REASONS[code] ?? null
}

/** Why a connection gave no answer, in words. */
export function connectionReason(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return `no answer within ${timeoutMs / 1000} s`
  // A name with several addresses fails with all of their errors; the first one stands for them.
  if (error instanceof AggregateError) return connectionReason(error.errors[0], timeoutMs)
  const code = 'code' in error ? String(error.code) : ''
  if (code.startsWith('HPE_')) return 'it does not speak HTTP'
  return reasonOfCode(code) ?? messageOf(error)
}
