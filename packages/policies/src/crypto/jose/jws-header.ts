import { type JsonObject, memberOf, parseStrictObject } from '../../engines/json/strict-json.js'
import { decode } from '../../shared/encoding/byte-text.js'

/** Longest id of a key that is looked up. */
const MAX_KID_LENGTH = 256

/**
 * What is read of a protected header. Whatever else stands in it, such as a key or the address of one (`jwk`, `jku`,
 * `x5c`, `x5u`), comes from whoever made the token and is not looked at.
 */
export interface JoseHeader {
  readonly alg: string
  readonly kid: string | null
  readonly typ: string | null
  readonly cty: string | null
  /** Extensions that have to be understood; null when there are none. */
  readonly crit: readonly string[] | null
  readonly all: JsonObject
}

/** The protected header of a segment (RFC 7515 section 4, RFC 7516 section 4); null when it is not one. */
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

/** Undefined: there is something else than a text. */
function optionalText(all: JsonObject, name: string): string | null | undefined {
  const value = memberOf(all, name)
  if (value === undefined) return null
  return typeof value === 'string' ? value : undefined
}

/** The names in `crit`, all of which the header has to hold (RFC 7515 section 4.1.11); undefined when they are not right. */
function criticalNames(all: JsonObject): readonly string[] | null | undefined {
  const crit = memberOf(all, 'crit')
  if (crit === undefined) return null
  if (!Array.isArray(crit) || crit.length === 0) return undefined
  const isRight = crit.every((name) => typeof name === 'string' && Object.hasOwn(all, name))
  return isRight && new Set(crit).size === crit.length ? (crit as string[]) : undefined
}

/** A `typ` to compare: `application/` may be left out, and case does not matter (RFC 7515 section 4.1.9). */
export function plainType(type: string): string {
  return type.toLowerCase().replace(/^application\//, '')
}
