import { isUtf8 } from 'node:buffer'
import { type HeaderList, headerJoined } from '@sluice/core'
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
  const coding = headerJoined(headers, 'content-encoding')
  const charset = /;\s*charset\s*=\s*"?([^\s";,]*)/i.exec(written)?.[1] ?? ''
  return {
    type: written.split(';', 1)[0]!.trim().toLowerCase(),
    charset: charset.toLowerCase(),
    isCoded: coding !== null && coding.trim().toLowerCase() !== 'identity',
  }
}

export function isJsonType({ type }: BodyKind): boolean {
  return type.endsWith('/json') || type.endsWith('+json')
}

export function isFormType({ type }: BodyKind): boolean {
  return type === 'application/x-www-form-urlencoded'
}

/** Whether text of this charset can be read. */
export function isReadable({ charset, isCoded }: BodyKind): boolean {
  return !isCoded && (LIKE_ASCII.test(charset) || UTF16.test(charset))
}

/** The body as text, as the most careless reader would have it. */
export function textOfBody(body: Uint8Array, { charset }: BodyKind): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const isMarked = (first: number, second: number): boolean => bytes[0] === first && bytes[1] === second
  if (charset === 'utf-16be' || charset === 'utf16be' || isMarked(0xfe, 0xff)) {
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString('utf16le')
  }
  if (UTF16.test(charset) || isMarked(0xff, 0xfe)) return bytes.toString('utf16le')
  return isUtf8(bytes) ? bytes.toString('utf8') : lenientUtf8(bytes)
}
