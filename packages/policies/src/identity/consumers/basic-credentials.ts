import { isUtf8 } from 'node:buffer'
import {
  type CompileEnv,
  type Exchange,
  headerCount,
  headerValue,
  isFieldValue,
  type Reply,
} from '@sluice/core'
import { decode } from '../../shared/encoding/byte-text.js'
import { hasControls } from './consumer-entry.js'
import { WINDOW_SECONDS } from './failure-window.js'

/** Maximum length of a token in bytes. */
const MAX_TOKEN_BYTES = 8192
const SCHEME = 'basic '

/**
 * Returns the base64 token of an Authorization value with the Basic scheme, or null for another scheme. The scheme is
 * case-insensitive.
 */
export function basicToken(value: string): string | null {
  if (value.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return null
  let start = SCHEME.length
  while (value.charCodeAt(start) === 32) start++
  return value.slice(start)
}

/** A name and a password, both non-empty. */
export interface Credentials {
  readonly name: string
  readonly password: string
}

/**
 * Decodes a Basic token (RFC 7617 section 2). Returns null if it is too long, not base64, not UTF-8, has control
 * characters, or lacks the name or the password. Decoding costs more than a digest, so callers that cache by digest
 * skip it.
 */
export function parseBasicToken(token: string): Credentials | null {
  if (token.length > MAX_TOKEN_BYTES) return null
  const bytes = decode(token, 'base64')
  // Bytes that are not UTF-8 are refused, never replaced, so that no two passwords become equal.
  if (bytes === null || !isUtf8(bytes)) return null
  const text = bytes.toString('utf8').normalize('NFC')
  const colon = text.indexOf(':')
  if (colon < 1 || colon === text.length - 1 || hasControls(text)) return null
  return { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** Responses to requests without valid credentials. */
export type BasicRefusals = ReturnType<typeof basicRefusals>

/** Compiles the refusals of a policy with the Basic scheme. @throws Error if a header cannot contain the realm. */
export function basicRefusals(realm: string, env: CompileEnv) {
  const challenge = ['www-authenticate', `Basic realm="${quotedRealm(realm)}", charset="UTF-8"`]
  const [inOneSecond, inOneWindow] = [1, WINDOW_SECONDS].map((seconds) => ['retry-after', String(seconds)])
  return {
    missing: env.refusal(
      'GW_AUTH_MISSING',
      'send a user name and a password with the Basic scheme',
      challenge,
    ),
    invalid: env.refusal('GW_AUTH_INVALID', 'the user name or the password is not valid', challenge),
    overloaded: env.refusal(
      'GW_AUTH_OVERLOADED',
      'too many passwords are being checked; try again',
      inOneSecond,
    ),
    throttled: env.refusal(
      'GW_RATE_LIMITED',
      'too many failed attempts from this address; wait a minute',
      inOneWindow,
    ),
  }
}

/** Escapes a realm for a quoted string. @throws Error if a header cannot contain it. */
export function quotedRealm(realm: string): string {
  if (isFieldValue(realm)) return realm.replaceAll(/["\\]/g, '\\$&')
  throw new Error(
    "'realm' contains a character that is not allowed in a header; use visible ASCII and spaces",
  )
}

/** Returns the Basic token of a request, or the refusal of a request that does not have exactly one. */
export function readBasicToken(x: Exchange, { missing, invalid }: BasicRefusals): string | Reply {
  const lines = headerCount(x.headers, 'authorization')
  if (lines > 1) return invalid
  return (lines === 0 ? null : basicToken(headerValue(x.headers, 'authorization')!)) ?? missing
}
