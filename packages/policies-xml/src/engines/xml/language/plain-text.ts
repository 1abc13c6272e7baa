import { isAt, wordAt } from './bytes.js'

const LT = 0x3c
const AMPERSAND = 0x26
const BRACKET = 0x5d
const GT = 0x3e
const CR = 0x0d
const QUESTION = 0x3f

/** Bits of the byte classes: text or value bytes without a special meaning, and white space. */
const TEXT = 1
const SPACE = 2

const KINDS = kinds()

function kinds(): Uint8Array {
  const table = new Uint8Array(256)
  // 0xef is left out because U+FFFE and U+FFFF, which XML forbids, start with it.
  for (let i = 0x20; i < 256; i++) if (i !== 0xef) table[i] = TEXT
  for (const byte of Buffer.from('\t\r\n ')) table[byte] = TEXT | SPACE
  table[LT] = table[AMPERSAND] = 0
  return table
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
}
const REFERENCES = Object.keys(ESCAPES).map((text) => Buffer.from(text))

const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const MAX_DECLARATION = 128
const S = '[ \\t\\r\\n]'
/** XML declaration with standard spelling and XML white space. Only the case of the encoding may vary. */
const DECLARATION = new RegExp(
  `^<\\?xml${S}+version${attribute('1\\.0')}(?:${S}+encoding${attribute('[Uu][Tt][Ff]-8')})?` +
    `(?:${S}+standalone${attribute('(?:yes|no)')})?${S}*\\?>$`,
)

function attribute(value: string): string {
  return `${S}*=${S}*(?:"${value}"|'${value}')`
}

/** Returns true for XML white space. */
export function isSpace(byte: number): boolean {
  return (KINDS[byte]! & SPACE) !== 0
}

/** Returns the position of the markup after white space, or -1 if something else follows. */
export function endOfSpace(body: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && isSpace(body[at]!)) at++
  return at < end && body[at] === LT ? at : -1
}

/**
 * Returns the position of the first markup after the XML declaration, or -1 if the document is not UTF-8 or starts
 * differently.
 */
export function startOfDocument(body: Uint8Array): number {
  let at = isAt(body, BYTE_ORDER_MARK, 0) ? BYTE_ORDER_MARK.length : 0
  if (body[at] === LT && body[at + 1] === QUESTION) {
    const close = body.subarray(at, at + MAX_DECLARATION).indexOf(GT)
    const text = textOf(body, at, at + close + 1)
    if (close === -1 || !DECLARATION.test(text)) return -1
    at += close + 1
    return endOfSpace(body, at, body.length)
  }
  return body[at] === LT ? at : -1
}

/** Returns the position after a text, where markup begins. Returns -1 if the text is cut off or not plain. */
export function endOfText(body: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end) {
    const byte = body[at]!
    if ((KINDS[byte]! & TEXT) !== 0) {
      if (byte === GT && body[at - 1] === BRACKET && body[at - 2] === BRACKET && at - 2 >= from) return -1
      at++
    } else if (byte === LT) return at
    else {
      at = endOfReference(body, at)
      if (at === -1) return -1
    }
  }
  return -1
}

/** Returns the position of the closing quote of a value, or -1 if it is missing or the value is not plain. */
export function endOfValue(body: Uint8Array, from: number, quote: number, end: number): number {
  let at = from
  while (at < end) {
    const byte = body[at]!
    if (byte === quote) return at
    if ((KINDS[byte]! & TEXT) !== 0) at++
    else {
      at = endOfReference(body, at)
      if (at === -1) return -1
    }
  }
  return -1
}

/** Returns the end of a section without markup, before `close`, or -1 if the section is not plain. */
export function endOfSection(body: Uint8Array, from: number, close: Uint8Array, end: number): number {
  for (let at = from; at < end; at++) {
    const byte = body[at]!
    if (byte === close[0] && isAt(body, close, at)) return at
    if (KINDS[byte] === 0 && byte !== LT && byte !== AMPERSAND) return -1
  }
  return -1
}

function endOfReference(body: Uint8Array, at: number): number {
  if (body[at] !== AMPERSAND) return -1
  const reference = wordAt(body, REFERENCES, at)
  return reference === null ? -1 : at + reference.length
}

/** Decodes a plain text. Returns null if a parser would normalize its line ends. */
export function contentOf(body: Uint8Array, from: number, end: number): string | null {
  for (let at = from; at < end; at++) if (body[at] === CR) return null
  return unescaped(textOf(body, from, end))
}

/** Decodes an attribute value. Returns null if a parser would normalize its white space. */
export function attributeValue(body: Uint8Array, from: number, end: number): string | null {
  for (let at = from; at < end; at++) if (body[at]! < 0x20) return null
  return unescaped(textOf(body, from, end))
}

function unescaped(text: string): string {
  return text.includes('&') ? text.replace(/&\w+;/g, (reference) => ESCAPES[reference]!) : text
}

/** Decodes a range of the body as UTF-8. */
export function textOf(body: Uint8Array, from: number, end: number): string {
  return Buffer.from(body.buffer, body.byteOffset + from, end - from).toString()
}
