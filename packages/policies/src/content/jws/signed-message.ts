import { type JoseHeader, parseJoseHeader } from '../../crypto/jose/jws-header.js'
import { decode } from '../../shared/encoding/byte-text.js'
import { isJsonObject, memberOf, parseStrictObject } from '../../shared/json/strict-json.js'

/** A signature and the data it covers. */
export interface SignedMessage {
  readonly header: JoseHeader
  readonly kid: string | null
  readonly input: Uint8Array
  readonly signature: Uint8Array
  readonly payload: Uint8Array
}

/** Maximum length of the protected header, in characters. */
const MAX_HEADER_LENGTH = 16 * 1024
const DOT = 46

/** Parses a body in compact serialisation. Returns null if it is malformed. */
export function readCompact(body: Uint8Array): SignedMessage | null {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const first = bytes.indexOf(DOT)
  const last = bytes.lastIndexOf(DOT)
  if (first < 1 || last === first || first > MAX_HEADER_LENGTH) return null
  const header = plainHeader(bytes.toString('latin1', 0, first))
  const payload = decode(bytes.toString('latin1', first + 1, last), 'base64url')
  const signature = decode(bytes.toString('latin1', last + 1), 'base64url')
  if (header === null || payload === null || signature === null) return null
  return { header, kid: header.kid, input: bytes.subarray(0, last), signature, payload }
}

/** Parses a body in flattened JSON serialisation. Returns null if it is malformed. */
export function readFlattened(body: Uint8Array): SignedMessage | null {
  const object = parseStrictObject(body)
  if (object === null || Object.hasOwn(object, 'signatures')) return null
  const [head, content, written] = ['protected', 'payload', 'signature'].map((name) => memberOf(object, name))
  if (typeof head !== 'string' || typeof content !== 'string' || typeof written !== 'string') return null
  const header = head.length > MAX_HEADER_LENGTH ? null : plainHeader(head)
  const payload = decode(content, 'base64url')
  const signature = decode(written, 'base64url')
  const outside = unprotectedKid(memberOf(object, 'header'))
  if (header === null || payload === null || signature === null || outside === undefined) return null
  if (outside !== null && header.kid !== null) return null
  const input = Buffer.from(`${head}.${content}`, 'latin1')
  return { header, kid: header.kid ?? outside, input, signature, payload }
}

/**
 * Returns the key id of the unprotected header. Returns undefined if the header has other members, because
 * they are not signed.
 */
function unprotectedKid(header: unknown): string | null | undefined {
  if (header === undefined) return null
  if (!isJsonObject(header)) return undefined
  const names = Object.keys(header)
  const kid = memberOf(header, 'kid')
  return names.length === 1 && typeof kid === 'string' && kid.length <= 256 ? kid : undefined
}

/** Parses a detached signature (RFC 7515 appendix F). Returns null if it is malformed. */
export function readDetached(text: string, body: Uint8Array, isUnencoded: boolean): SignedMessage | null {
  const dots = text.indexOf('..')
  if (dots < 1 || text.length > MAX_HEADER_LENGTH) return null
  const head = text.slice(0, dots)
  const header = isUnencoded ? unencodedHeader(head) : plainHeader(head)
  const signature = decode(text.slice(dots + 2), 'base64url')
  if (header === null || signature === null) return null
  const input = signingInput(head, body, isUnencoded)
  return { header, kid: header.kid, input, signature, payload: body }
}

/** Returns the signed bytes: the header and the body, unencoded or in base64url. */
export function signingInput(head: string, body: Uint8Array, isUnencoded: boolean): Uint8Array {
  if (isUnencoded) return Buffer.concat([Buffer.from(`${head}.`, 'latin1'), body])
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const text = bytes.toString('base64url')
  const input = Buffer.allocUnsafe(head.length + 1 + text.length)
  input.write(`${head}.`, 0, 'latin1')
  input.write(text, head.length + 1, 'latin1')
  return input
}

/** Parses a header without extensions. */
function plainHeader(segment: string): JoseHeader | null {
  const header = parseJoseHeader(segment)
  return header === null || header.crit !== null || Object.hasOwn(header.all, 'b64') ? null : header
}

/** Parses a header whose only extension is an unencoded payload (RFC 7797 section 6). */
function unencodedHeader(segment: string): JoseHeader | null {
  const header = parseJoseHeader(segment)
  if (header === null || header.crit === null) return null
  const isRight =
    header.crit.length === 1 && header.crit[0] === 'b64' && memberOf(header.all, 'b64') === false
  return isRight ? header : null
}
