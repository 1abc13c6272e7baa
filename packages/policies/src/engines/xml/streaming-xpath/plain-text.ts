import { isAt, wordAt } from '../bytes.js'

const LT = 0x3c
const AMPERSAND = 0x26
const BRACKET = 0x5d
const GT = 0x3e
const CR = 0x0d
const QUESTION = 0x3f

/** What a byte is, as bits: one of a text or value that stands for itself, and white space. */
const TEXT = 1
const SPACE = 2

const KINDS = kinds()

function kinds(): Uint8Array {
  const table = new Uint8Array(256)
  // Bytes of text beyond ASCII, but for those that U+FFFE and U+FFFF begin with, which XML has no place for.
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
/** Names and values have one spelling, but for the encoding, and only XML's own white space stands between them. */
const DECLARATION = new RegExp(
  `^<\\?xml${S}+version${attribute('1\\.0')}(?:${S}+encoding${attribute('[Uu][Tt][Ff]-8')})?` +
    `(?:${S}+standalone${attribute('(?:yes|no)')})?${S}*\\?>$`,
)

function attribute(value: string): string {
  return `${S}*=${S}*(?:"${value}"|'${value}')`
}

export function isSpace(byte: number): boolean {
  return (KINDS[byte]! & SPACE) !== 0
}

/** After white space, where markup has to stand; -1 when something else does. */
export function endOfSpace(body: Uint8Array, from: number, end: number): number {
  let at = from
  while (at < end && isSpace(body[at]!)) at++
  return at < end && body[at] === LT ? at : -1
}

/** Where the first markup after the XML declaration begins; -1 for documents that are not in UTF-8, or begin otherwise. */
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

/** Where a text ends, which is where markup begins; -1 when it ends before, or has something that is not plain. */
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

/** Where the quote stands that ends a value; -1 when there is none, or something that is not plain. */
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

/** Where a section of characters, in which nothing is markup, ends before `close`; -1 when it is not plain. */
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

/** What a text that is plain stands for; null when a parser would change its line ends. */
export function contentOf(body: Uint8Array, from: number, end: number): string | null {
  for (let at = from; at < end; at++) if (body[at] === CR) return null
  return unescaped(textOf(body, from, end))
}

/** What the value of an attribute stands for; null when a parser would change its white space. */
export function attributeValue(body: Uint8Array, from: number, end: number): string | null {
  for (let at = from; at < end; at++) if (body[at]! < 0x20) return null
  return unescaped(textOf(body, from, end))
}

function unescaped(text: string): string {
  return text.includes('&') ? text.replace(/&\w+;/g, (reference) => ESCAPES[reference]!) : text
}

export function textOf(body: Uint8Array, from: number, end: number): string {
  return Buffer.from(body.buffer, body.byteOffset + from, end - from).toString()
}
