import { isUtf8 } from 'node:buffer'
import { type HeaderList, hasContentCoding, headerJoined, mediaType } from '@sluice/core'
import { charsetsOf } from '../message/charsets.js'
import { lenientUtf8 } from './lenient-utf8.js'

/** Description of a body by its headers. */
export interface BodyKind {
  /** Lower-case media type such as `application/json`, or empty. */
  readonly type: string
  readonly charset: string
  /** True if it has a content coding, so that its bytes are not text. */
  readonly isCoded: boolean
}

/** Charsets in which exactly the ASCII bytes are ASCII characters. */
const LIKE_ASCII = /^(?:|utf-?8|us-ascii|ascii|iso-8859-\d{1,2}|latin-?\d|windows-125\d)$/
const UTF16 = /^utf-?16(?:le|be)?$/

/** Returns the kind of the body that follows these headers. */
export function bodyKindOf(headers: HeaderList): BodyKind {
  const written = headerJoined(headers, 'content-type') ?? ''
  return {
    type: mediaType(written),
    // Different charsets are joined to an unknown name, so the body counts as unreadable.
    charset: [...new Set(charsetsOf(written))].join(','),
    isCoded: hasContentCoding(headers),
  }
}

/** Returns true for an XML media type. */
export function isXmlType({ type }: BodyKind): boolean {
  return type.endsWith('/xml') || type.endsWith('+xml')
}

/** Returns true if text in this charset can be read. */
export function isReadable({ charset, isCoded }: BodyKind): boolean {
  return !isCoded && (LIKE_ASCII.test(charset) || UTF16.test(charset))
}

/** Returns true if the body is, or looks like, UTF-16. */
export function isWide(body: Uint8Array, { charset }: BodyKind): boolean {
  if (UTF16.test(charset)) return true
  return (body[0] === 0xfe && body[1] === 0xff) || (body[0] === 0xff && body[1] === 0xfe)
}

/**
 * Returns the body as text, in all the ways in which a careless reader could decode it. If it may be UTF-16, these
 * are both byte orders, and the decoding without charset and byte order mark. The declared one comes first.
 */
export function textsOfBody(body: Uint8Array, kind: BodyKind): readonly [string, ...string[]] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const narrow = isUtf8(bytes) ? bytes.toString('utf8') : lenientUtf8(bytes)
  if (!isWide(body, kind)) return [narrow]
  const little = bytes.toString('utf16le')
  const big = Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString('utf16le')
  const isBig = kind.charset.endsWith('be') || (bytes[0] === 0xfe && bytes[1] === 0xff)
  return isBig ? [big, little, narrow] : [little, big, narrow]
}
