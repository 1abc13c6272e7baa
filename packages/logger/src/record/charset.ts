import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import type { BodyBeginning } from '@sluice/core'

/** RFC 9110 section 8.3.2; anywhere among the parameters. */
const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s";]*))/i
/** The beginning of an XML document may say what the message does not (XML 1.0 section 4.3.3). */
const XML_ENCODING = /^<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/
/** In these a byte of ASCII may stand for something else: what a rule looks for is not to be seen in them. */
const UNLIKE_ASCII = /^(?:utf-16|iso-2022|replacement|x-user-defined)/
const LONGEST_PROLOG = 256

/** What was kept of a body as text; null when it is unknown what it says. */
export function decodedText(body: BodyBeginning): string | null {
  const label = labelOf(body)
  const utf8 = wholeCharacters(body)
  if (label === '') return textOf(utf8, 'utf8')
  const decoder = decoderFor(label)
  if (decoder === null || UNLIKE_ASCII.test(decoder.encoding)) return null
  // Text of another encoding is hardly ever UTF-8 by accident; a label is often wrong.
  if (decoder.encoding === 'utf-8' || isUtf8(utf8)) return textOf(utf8, 'utf8')
  return decoder.decode(body.beginning)
}

function labelOf({ contentType, beginning }: BodyBeginning): string {
  const charset = CHARSET.exec(contentType)
  if (charset !== null) return charset[1] ?? charset[2]!
  if (beginning[0] !== 0x3c) return ''
  return XML_ENCODING.exec(textOf(beginning.subarray(0, LONGEST_PROLOG), 'latin1'))?.[1] ?? ''
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

/** A cut within a character of UTF-8 takes away the whole of it. */
export function wholeCharacters(body: BodyBeginning): Uint8Array {
  const bytes = body.beginning
  if (!body.isTruncated) return bytes
  let start = bytes.length - 1
  while (start > 0 && start > bytes.length - 4 && (bytes[start]! & 0xc0) === 0x80) start--
  const lead = bytes[start] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return start + length > bytes.length ? bytes.subarray(0, start) : bytes
}
