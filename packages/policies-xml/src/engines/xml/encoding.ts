import { unreadableXml } from './unreadable-xml.js'

/**
 * Accepted encodings: those with ASCII markup, and UTF-16. Others, such as UCS-4, EBCDIC and encodings that switch
 * alphabets, could hide markup from software that inspects the bytes.
 */
const ACCEPTED = /^(?:utf-8|utf-16(?:le|be)?|us-ascii|iso-8859-\d{1,2}|windows-125\d)$/i

/** Returns true if the gateway accepts XML in an encoding. */
export function isAcceptedEncoding(name: string): boolean {
  return ACCEPTED.test(name)
}

/**
 * Checks the encoding of a document.
 * @param declared encoding of the XML declaration, or null.
 * @throws UnreadableBody
 */
export function checkEncoding(declared: string | null): void {
  if (declared === null || isAcceptedEncoding(declared)) return
  throw unreadableXml('has an encoding that is not supported; send UTF-8')
}

/** Returns a document with ASCII markup: the bytes themselves, or a converted copy of UTF-16. */
export function asciiMarkup(body: Uint8Array): Buffer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const first = bytes[0] ?? 0
  const second = bytes[1] ?? 0
  if (first === 0xff && second === 0xfe && !isZeroPair(bytes)) return transcode(bytes)
  if (first === 0xfe && second === 0xff) return transcode(swapped(bytes))
  if (first === 0x3c && second === 0 && !isZeroPair(bytes)) return transcode(bytes)
  if (first === 0 && second === 0x3c && bytes[2] === 0) return transcode(swapped(bytes))
  if (first === 0 || second === 0 || first === 0xff)
    throw unreadableXml('does not begin like XML; send UTF-8')
  return bytes
}

/** Returns true for UCS-4, which begins like UTF-16 but continues with zeros. */
function isZeroPair(bytes: Buffer): boolean {
  return bytes[2] === 0 && bytes[3] === 0
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16()
}

function transcode(utf16: Buffer): Buffer {
  return Buffer.from(utf16.toString('utf16le'), 'utf8')
}
