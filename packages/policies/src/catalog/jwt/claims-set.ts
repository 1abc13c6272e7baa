import { type JsonObject, memberOf, parseStrictObject } from '../../engines/json/strict-json.js'

/** The claims of a token, those that RFC 7519 defines checked for their types. */
export interface ClaimsSet {
  readonly all: JsonObject
  readonly iss: string | null
  readonly aud: readonly string[]
  /** Seconds since the epoch; null when absent. */
  readonly exp: number | null
  readonly nbf: number | null
}

/** The claims that bytes spell; null when a claim of RFC 7519 has another type than there. */
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

/** RFC 7519 section 2: a number, which may have a fraction. JSON can spell numbers that are infinite here. */
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
