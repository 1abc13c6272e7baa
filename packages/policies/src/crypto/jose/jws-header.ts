import { decode } from '../../shared/encoding/byte-text.js'
import { type JsonObject, memberOf, parseStrictObject } from '../../shared/json/strict-json.js'

/** Maximum length of a key id. */
const MAX_KID_LENGTH = 256

/**
 * The used members of a protected header. Others, such as a key or its address (`jwk`, `jku`, `x5c`, `x5u`), come
 * from the sender of the token and are ignored.
 */
export interface JoseHeader {
  readonly alg: string
  readonly kid: string | null
  readonly typ: string | null
  readonly cty: string | null
  /** Critical extensions that must be understood, or null. */
  readonly crit: readonly string[] | null
  readonly all: JsonObject
}

/** Parses a protected header (RFC 7515 section 4, RFC 7516 section 4), or returns null. */
export function parseJoseHeader(segment: string): JoseHeader | null {
  const bytes = decode(segment, 'base64url')
  const all = bytes === null ? null : parseStrictObject(bytes)
  if (all === null) return null
  const alg = memberOf(all, 'alg')
  const kid = optionalText(all, 'kid')
  const typ = optionalText(all, 'typ')
  const cty = optionalText(all, 'cty')
  const crit = criticalNames(all)
  if (typeof alg !== 'string' || kid === undefined || typ === undefined || cty === undefined) return null
  if (crit === undefined || (kid !== null && kid.length > MAX_KID_LENGTH)) return null
  return { alg, kid, typ, cty, crit, all }
}

/** Returns an optional text member: null if it is absent, undefined if it is not a text. */
function optionalText(all: JsonObject, name: string): string | null | undefined {
  const value = memberOf(all, name)
  if (value === undefined) return null
  return typeof value === 'string' ? value : undefined
}

/**
 * Returns the names in `crit`, all of which the header must contain (RFC 7515 section 4.1.11), or undefined if they
 * are invalid.
 */
function criticalNames(all: JsonObject): readonly string[] | null | undefined {
  const crit = memberOf(all, 'crit')
  if (crit === undefined) return null
  if (!Array.isArray(crit) || crit.length === 0) return undefined
  const isRight = crit.every((name) => typeof name === 'string' && Object.hasOwn(all, name))
  return isRight && new Set(crit).size === crit.length ? (crit as string[]) : undefined
}

/** Normalizes a `typ`: the prefix `application/` is optional, and case is ignored (RFC 7515 section 4.1.9). */
export function plainType(type: string): string {
  return type.toLowerCase().replace(/^application\//, '')
}
