import { isUtf8 } from 'node:buffer'
import type { CapturedBody } from '@sluice/core'
import { maskedQuery } from './full-parts.js'
import { isTextual, mediaType } from './media-type.js'
import { withoutFiles } from './multipart.js'
import type { SensitiveNames } from './sensitive-names.js'

const FORM = 'application/x-www-form-urlencoded'

/** What was kept of a body as text; null when it is none. Files of a multipart form are left out of it. */
export function bodyText(body: CapturedBody, sensitive: SensitiveNames): string | null {
  if (body.encoding !== '' && body.encoding.toLowerCase() !== 'identity') return null
  const type = mediaType(body.contentType)
  if (type.startsWith('multipart/')) return withoutFiles(body, sensitive)
  if (type === FORM) return maskedQuery(decoded(body), sensitive)
  if (isTextual(type)) return decoded(body)
  return type === '' && looksLikeText(body) ? decoded(body) : null
}

/** Nothing says what it is: it is text when it is UTF-8 without a NUL. */
function looksLikeText(body: CapturedBody): boolean {
  const whole = wholeCharacters(body)
  return isUtf8(whole) && !whole.includes(0)
}

function decoded(body: CapturedBody): string {
  const latin1 = /charset="?(iso-8859-1|latin1|us-ascii)/i.test(body.contentType)
  const bytes = latin1 ? body.beginning : wholeCharacters(body)
  return textOf(bytes, latin1 ? 'latin1' : 'utf8')
}

function textOf(bytes: Uint8Array, encoding: 'latin1' | 'utf8'): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(encoding)
}

/** A cut within a character of UTF-8 takes away the whole of it. */
function wholeCharacters(body: CapturedBody): Uint8Array {
  const bytes = body.beginning
  if (!body.isTruncated) return bytes
  let start = bytes.length - 1
  while (start > 0 && start > bytes.length - 4 && (bytes[start]! & 0xc0) === 0x80) start--
  const lead = bytes[start] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes
}
