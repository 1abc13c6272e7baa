import { unreadableXml } from './unreadable-xml.js'

/**
 * Encodings whose markup is ASCII, and UTF-16. Others, such as UCS-4, EBCDIC or those that switch between alphabets,
 * could hide markup from whoever reads the bytes.
 */
const ACCEPTED = /^(?:utf-8|utf-16(?:le|be)?|us-ascii|iso-8859-\d{1,2}|windows-125\d)$/i

export function isAcceptedEncoding(name: string): boolean {
  return ACCEPTED.test(name)
}

/** @param declared as the XML declaration has it; null when it says nothing. */
export function checkEncoding(declared: string | null): void {
  if (declared === null || isAcceptedEncoding(declared)) return
  throw unreadableXml('is in an encoding that is not accepted; send UTF-8')
}

/** The same document with markup in ASCII: the bytes themselves, or a copy when they are UTF-16. */
export function asciiMarkup(body: Uint8Array): Buffer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const first = bytes[0] ?? 0
  const second = bytes[1] ?? 0
  if (first === 0xff && second === 0xfe && !isZeroPair(bytes)) return transcode(bytes)
  if (first === 0xfe && second === 0xff) return transcode(swapped(bytes))
  if (first === 0x3c && second === 0 && !isZeroPair(bytes)) return transcode(bytes)
  if (first === 0 && second === 0x3c && bytes[2] === 0) return transcode(swapped(bytes))
  if (first === 0 || second === 0 || first === 0xff) {
    throw unreadableXml('does not begin as XML does; send UTF-8')
  }
  return bytes
}

/** UCS-4 begins like UTF-16 and goes on with zeros. */
function isZeroPair(bytes: Buffer): boolean {
  return bytes[2] === 0 && bytes[3] === 0
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16()
}

function transcode(utf16: Buffer): Buffer {
  return Buffer.from(utf16.toString('utf16le'), 'utf8')
}
