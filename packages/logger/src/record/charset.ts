import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import type { BodyBeginning } from '@sluice/core'

/** Charset parameter of a media type (RFC 9110 section 8.3.2), at any position. */
const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s";]*))/i
/** Encoding in an XML declaration, which may differ from that of the message (XML 1.0 section 4.3.3). */
const XML_ENCODING = /^<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/
/** Encodings in which ASCII bytes may have another meaning, so that redaction rules could not find values. */
const UNLIKE_ASCII = /^(?:utf-16|iso-2022|replacement|x-user-defined)/
const MAX_PROLOG_LENGTH = 256

/** Decodes a captured body, or returns null if its encoding is unknown. */
export function decodedText(body: BodyBeginning): string | null {
  const label = labelOf(body)
  const utf8 = wholeCharacters(body)
  if (label === '') return textOf(utf8, 'utf8')
  const decoder = decoderFor(label)
  if (decoder === null || UNLIKE_ASCII.test(decoder.encoding)) return null
  // Labels are often wrong, and text in another encoding is rarely valid UTF-8 by accident.
  if (decoder.encoding === 'utf-8' || isUtf8(utf8)) return textOf(utf8, 'utf8')
  return decoder.decode(body.beginning)
}

function labelOf({ contentType, beginning }: BodyBeginning): string {
  const charset = CHARSET.exec(contentType)
  if (charset !== null) return charset[1] ?? charset[2]!
  if (beginning[0] !== 0x3c) return ''
  return XML_ENCODING.exec(textOf(beginning.subarray(0, MAX_PROLOG_LENGTH), 'latin1'))?.[1] ?? ''
}

function decoderFor(label: string): TextDecoder | null {
  try {
    return new TextDecoder(label)
  } catch {
    return null
  }
}

function textOf(bytes: Uint8Array, encoding: 'latin1' | 'utf8'): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(encoding)
}

/** Returns the captured bytes without an incomplete UTF-8 character at the end. */
export function wholeCharacters(body: BodyBeginning): Uint8Array {
  const bytes = body.beginning
  if (!body.isTruncated) return bytes
  let start = bytes.length - 1
  while (start > 0 && start > bytes.length - 4 && (bytes[start]! & 0xc0) === 0x80) start--
  const lead = bytes[start] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes
}
