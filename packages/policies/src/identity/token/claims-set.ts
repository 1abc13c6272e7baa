import { type JsonObject, memberOf, parseStrictObject } from '../../shared/json/strict-json.js'

/** Claims of a token. The claims of RFC 7519 have been checked for their types. */
export interface ClaimsSet {
  readonly all: JsonObject
  readonly iss: string | null
  readonly aud: readonly string[]
  /** Expiry in seconds since 1970, or null if absent. */
  readonly exp: number | null
  readonly nbf: number | null
}

/** Parses claims. Returns null if a claim of RFC 7519 has the wrong type. */
export function parseClaims(bytes: Uint8Array): ClaimsSet | null {
  const all = parseStrictObject(bytes)
  if (all === null) return null
  const exp = numericDate(all, 'exp')
  const nbf = numericDate(all, 'nbf')
  const iss = text(all, 'iss')
  const aud = audiences(memberOf(all, 'aud'))
  if (exp === undefined || nbf === undefined || iss === undefined || aud === undefined) return null
  const isRight = numericDate(all, 'iat') !== undefined && text(all, 'sub') !== undefined
  return isRight && text(all, 'jti') !== undefined ? { all, iss, aud, exp, nbf } : null
}

/** Returns the times of a token, extended by the tolerated clock difference. */
export function timesOf({ exp, nbf }: ClaimsSet, skewMs: number) {
  return {
    expiresAt: exp === null ? Number.POSITIVE_INFINITY : exp * 1000 + skewMs,
    validFrom: nbf === null ? Number.NEGATIVE_INFINITY : nbf * 1000 - skewMs,
  }
}

/** Reads a number with an optional fraction (RFC 7519 section 2). Some JSON numbers overflow to infinity. */
function numericDate(all: JsonObject, name: string): number | null | undefined {
  const value = memberOf(all, name)
  if (value === undefined) return null
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function text(all: JsonObject, name: string): string | null | undefined {
  const value = memberOf(all, name)
  if (value === undefined) return null
  return typeof value === 'string' ? value : undefined
}

function audiences(value: unknown): readonly string[] | undefined {
  if (value === undefined) return []
  if (typeof value === 'string') return [value]
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}
