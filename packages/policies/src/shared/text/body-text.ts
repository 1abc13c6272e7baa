import { isUtf8 } from 'node:buffer'
import { type HeaderList, hasContentCoding, headerJoined, mediaType } from '@sluice/core'
import { charsetsOf } from '../charsets.js'
import { lenientUtf8 } from './lenient-utf8.js'

/** How the headers of a message describe its body. */
export interface BodyKind {
  /** `application/json`, lower-case; empty when there is none. */
  readonly type: string
  readonly charset: string
  /** It is in a content coding, so that its bytes mean nothing as they are. */
  readonly isCoded: boolean
}

/** Charsets in which ASCII bytes are ASCII characters, and nothing else is. */
const LIKE_ASCII = /^(?:|utf-?8|us-ascii|ascii|iso-8859-\d{1,2}|latin-?\d|windows-125\d)$/
const UTF16 = /^utf-?16(?:le|be)?$/

export function bodyKindOf(headers: HeaderList): BodyKind {
  const written = headerJoined(headers, 'content-type') ?? ''
  return {
    type: mediaType(written),
    // Two that differ are no name of one, so that the body counts as unreadable.
    charset: [...new Set(charsetsOf(written))].join(','),
    isCoded: hasContentCoding(headers),
  }
}

export function isXmlType({ type }: BodyKind): boolean {
  return type.endsWith('/xml') || type.endsWith('+xml')
}

/** Whether text of this charset can be read. */
export function isReadable({ charset, isCoded }: BodyKind): boolean {
  return !isCoded && (LIKE_ASCII.test(charset) || UTF16.test(charset))
}

/** The body says that its characters have two bytes each, or looks as if. */
export function isWide(body: Uint8Array, { charset }: BodyKind): boolean {
  if (UTF16.test(charset)) return true
  return (body[0] === 0xfe && body[1] === 0xff) || (body[0] === 0xff && body[1] === 0xfe)
}

/**
 * The body as text, as the most careless readers would have it: of what may be UTF-16 both orders of bytes, and what it
 * is to whoever looks neither at the charset nor at the mark. The first is what it says it is.
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
