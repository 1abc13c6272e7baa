import type { ErrorCode } from '@sluice/core'
import type { Failure } from './transport.js'

interface Row {
  readonly code: ErrorCode
  readonly detail: string
  readonly phase: Failure['phase']
}

const QUEUE_TIMEOUT: Row = {
  code: 'GW_OVERLOADED',
  detail: 'no connection became free in time (pendingTimeout)',
  phase: 'connect',
}
const CONNECT_TIMEOUT: Row = {
  code: 'GW_UPSTREAM_TIMEOUT',
  detail: 'the connection was not established in time (connect)',
  phase: 'connect',
}
const NOT_RESOLVED: Row = {
  code: 'GW_UPSTREAM_DNS',
  detail: 'the name of the target does not resolve',
  phase: 'connect',
}
const ADDRESS_REFUSED: Row = {
  code: 'GW_UPSTREAM_REFUSED',
  detail: 'the name has no address that is allowed (allowAddresses)',
  phase: 'connect',
}
const REFUSED: Row = {
  code: 'GW_UPSTREAM_REFUSED',
  detail: 'the target refused the connection',
  phase: 'connect',
}
const UNREACHABLE: Row = {
  code: 'GW_UPSTREAM_REFUSED',
  detail: 'the target cannot be reached',
  phase: 'connect',
}
const NO_TUNNEL: Row = {
  code: 'GW_UPSTREAM_REFUSED',
  detail: 'the outbound proxy is unreachable or refused the tunnel to the target',
  phase: 'connect',
}
const RESET: Row = {
  code: 'GW_UPSTREAM_RESET',
  detail: 'the target closed the connection before answering',
  phase: 'exchange',
}
const UNPROCESSED: Row = {
  code: 'GW_UPSTREAM_RESET',
  detail: 'the target refused the stream without processing it',
  phase: 'unprocessed',
}
const OVERFLOW: Row = {
  code: 'GW_UPSTREAM_INVALID',
  detail: 'the response head exceeds the size limit',
  phase: 'exchange',
}
const INVALID: Row = {
  code: 'GW_UPSTREAM_INVALID',
  detail: 'the response is not valid HTTP',
  phase: 'exchange',
}
const TRUNCATED: Row = {
  code: 'GW_UPSTREAM_INVALID',
  detail: 'the response body does not have the announced length',
  phase: 'exchange',
}
const TLS: Row = {
  code: 'GW_UPSTREAM_TLS',
  detail: 'the TLS handshake with the target failed',
  phase: 'connect',
}
const REQUEST: Row = { code: 'GW_BAD_REQUEST', detail: 'the request cannot be forwarded', phase: 'connect' }
const UNKNOWN: Row = {
  code: 'GW_UPSTREAM_RESET',
  detail: 'the connection to the target failed',
  phase: 'exchange',
}

const TOO_MANY_INFORMATIONAL: Row = {
  code: 'GW_UPSTREAM_INVALID',
  detail: 'the target sent too many informational responses',
  phase: 'exchange',
}
const BAD_STATUS: Row = {
  code: 'GW_UPSTREAM_INVALID',
  detail: 'the status of the response is out of range',
  phase: 'exchange',
}

/** Maximum number of 1xx responses before a final response. A target that sends more is cut off. */
export const MAX_INFORMATIONAL = 16

/** Failures that the transports detect themselves. */
export const FAILURES = {
  badStatus: BAD_STATUS,
  invalid: INVALID,
  overflow: OVERFLOW,
  queueTimeout: QUEUE_TIMEOUT,
  request: REQUEST,
  reset: RESET,
  tooManyInformational: TOO_MANY_INFORMATIONAL,
  truncated: TRUNCATED,
  unprocessed: UNPROCESSED,
} as const satisfies Readonly<Record<string, Failure>>

/** Failures by error code of Node.js or undici. */
const TABLE: Readonly<Record<string, Row>> = {
  GW_CONNECT_TIMEOUT: CONNECT_TIMEOUT,
  UND_ERR_CONNECT_TIMEOUT: CONNECT_TIMEOUT,
  ETIMEDOUT: CONNECT_TIMEOUT,
  GW_NO_TUNNEL: NO_TUNNEL,
  GW_ADDRESS_REFUSED: ADDRESS_REFUSED,
  ENOTFOUND: NOT_RESOLVED,
  EAI_AGAIN: NOT_RESOLVED,
  EAI_FAIL: NOT_RESOLVED,
  ECONNREFUSED: REFUSED,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  EADDRNOTAVAIL: UNREACHABLE,
  EMFILE: UNREACHABLE,
  ECONNRESET: RESET,
  EPIPE: RESET,
  UND_ERR_SOCKET: RESET,
  UND_ERR_HEADERS_OVERFLOW: OVERFLOW,
  HPE_HEADER_OVERFLOW: OVERFLOW,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: TRUNCATED,
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: REQUEST,
  UND_ERR_INVALID_ARG: REQUEST,
  EPROTO: TLS,
  // undici uses assertions for parts of a response, such as a status of at least 100.
  ERR_ASSERTION: INVALID,
}

/** Maps an error of the transport to a failure. Library messages are not passed on. */
export function failureOf(error: unknown): Failure {
  const code = codeOf(error)
  const row = isBadResponse(error) ? INVALID : TABLE[code]
  if (row !== undefined) return row
  if (code.startsWith('HPE_') || isParserError(error)) return INVALID
  if (code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || isCertificateCode(code)) return TLS
  return UNKNOWN
}

/** Some errors of undici's parser have no code. */
function isParserError(error: unknown): boolean {
  return error instanceof Error && error.name === 'HTTPParserError'
}

/** undici uses `UND_ERR_SOCKET` for a closed connection, an unexpected 100 and an upgrade. Only the message differs. */
function isBadResponse(error: unknown): boolean {
  return error instanceof Error && (error.message === 'bad response' || error.message === 'bad upgrade')
}

/** Returns the code of an error, or of the last of several (happy eyeballs). */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors.at(-1))
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string')
    return error.code
  return ''
}

/** Returns true for an X.509 verification code of OpenSSL. */
function isCertificateCode(code: string): boolean {
  return /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_CERT|INVALID_CA|HOSTNAME_MISMATCH)/.test(code)
}
