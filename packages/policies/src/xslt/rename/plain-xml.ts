/** What bytes can be in plain XML, as bits. */
const TEXT = 1
const VALUE = 2
const NAME_START = 4
const NAME = 8
const URI = 16

const LT = 0x3c
const QUOTE = 0x22
const EQUALS = 0x3d
const COLON = 0x3a
const AMPERSAND = 0x26
const SPACE = 0x20
const NEWLINE = 0x0a

const KINDS = kinds()

function kinds(): Uint8Array {
  const table = new Uint8Array(256)
  // Bytes of text beyond ASCII, but for those that U+FFFE and U+FFFF begin with, which XML has no place for.
  for (let i = 0x20; i < 256; i++) if (i !== 0x7f && i !== 0xef) table[i] = TEXT | VALUE
  table[0x09] = TEXT
  table[NEWLINE] = TEXT
  for (const byte of Buffer.from('<>&')) table[byte] = 0
  table[QUOTE] = TEXT
  mark(table, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', NAME_START | NAME | URI)
  mark(table, '_', NAME_START | NAME | URI)
  mark(table, '0123456789.-', NAME | URI)
  mark(table, '/', URI)
  return table
}

function mark(table: Uint8Array, bytes: string, bits: number): void {
  for (const byte of Buffer.from(bytes)) table[byte]! |= bits
}

/** References that are written as they were read. */
const REFERENCES = ['&amp;', '&lt;', '&gt;'].map((text) => Buffer.from(text))
/** What may stand before the root element. */
const DECLARATIONS = ['<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-8"?>'].map((text) =>
  Buffer.from(text),
)

/** Namespaces that nobody can doubt: a scheme, and then nothing that has a meaning in URIs. */
const SCHEMES = ['http://', 'https://', 'urn:'].map((text) => Buffer.from(text))
/** Those of XML itself may not be declared for other prefixes. */
const RESERVED = ['http://www.w3.org/XML/1998/namespace', 'http://www.w3.org/2000/xmlns/'].map((text) =>
  Buffer.from(text),
)

/** Where the root element begins; -1 when something else than a usual declaration stands before it. */
export function startOfRoot(body: Uint8Array): number {
  let at = 0
  if (body[1] === 0x3f) {
    const declaration = DECLARATIONS.find((each) => isAt(body, each, 0))
    if (declaration === undefined) return -1
    at = declaration.length
    while (body[at] === NEWLINE || body[at] === SPACE) at++
  }
  return body[at] === LT ? at : -1
}

/** Behind a name with at most one prefix; -1 when there is none. */
export function endOfName(body: Uint8Array, from: number): number {
  let at = endOfPart(body, from)
  if (at !== -1 && body[at] === COLON) at = endOfPart(body, at + 1)
  return at
}

function endOfPart(body: Uint8Array, from: number): number {
  if (from >= body.length || (KINDS[body[from]!]! & NAME_START) === 0) return -1
  let at = from + 1
  while (at < body.length && (KINDS[body[at]!]! & NAME) !== 0) at++
  return at
}

/** Behind `="value"`; -1 when it is written in another way. @param isUri a namespace rather than any value */
export function endOfAttribute(body: Uint8Array, from: number, isUri: boolean): number {
  if (body[from] !== EQUALS || body[from + 1] !== QUOTE) return -1
  const start = from + 2
  const first = isUri ? endOfScheme(body, start) : start
  if (first === -1) return -1
  const kind = isUri ? URI : VALUE
  let at = first
  while (at < body.length && (KINDS[body[at]!]! & kind) !== 0) at++
  if (body[at] !== QUOTE || (isUri && at === first)) return -1
  return at + 1
}

function endOfScheme(body: Uint8Array, from: number): number {
  if (RESERVED.some((each) => isAt(body, each, from))) return -1
  const scheme = SCHEMES.find((each) => isAt(body, each, from))
  return scheme === undefined ? -1 : from + scheme.length
}

/** Where a text ends, which is where a tag begins; -1 when it has something that would be written differently. */
export function endOfText(body: Uint8Array, from: number): number {
  let at = from
  while (at < body.length) {
    const byte = body[at]!
    if ((KINDS[byte]! & TEXT) !== 0) at++
    else if (byte === LT) return at
    else if (byte !== AMPERSAND) return -1
    else {
      const reference = REFERENCES.find((each) => isAt(body, each, at))
      if (reference === undefined) return -1
      at += reference.length
    }
  }
  return -1
}

function isAt(body: Uint8Array, wanted: Uint8Array, at: number): boolean {
  for (let i = 0; i < wanted.length; i++) if (body[at + i] !== wanted[i]) return false
  return true
}
