import { endOfNamespace, wordAt } from '../../xml/bytes.js'

/** What bytes can be in plain XML, as bits. */
const TEXT = 1
const VALUE = 2

const LT = 0x3c
const QUOTE = 0x22
const EQUALS = 0x3d
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
  return table
}

/** References that are written as they were read. */
const REFERENCES = ['&amp;', '&lt;', '&gt;'].map((text) => Buffer.from(text))
/** What may stand before the root element. */
const DECLARATIONS = ['<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-8"?>'].map((text) =>
  Buffer.from(text),
)

/** Where the root element begins; -1 when something else than a usual declaration stands before it. */
export function startOfRoot(body: Uint8Array): number {
  let at = 0
  if (body[1] === 0x3f) {
    const declaration = wordAt(body, DECLARATIONS, 0)
    if (declaration === null) return -1
    at = declaration.length
    while (body[at] === NEWLINE || body[at] === SPACE) at++
  }
  return body[at] === LT ? at : -1
}

/** Behind `="value"`; -1 when it is written in another way. @param isUri a namespace rather than any value */
export function endOfAttribute(body: Uint8Array, from: number, isUri: boolean): number {
  if (body[from] !== EQUALS || body[from + 1] !== QUOTE) return -1
  const start = from + 2
  const end = isUri ? endOfNamespace(body, start) : endOfValue(body, start)
  return end === -1 || body[end] !== QUOTE ? -1 : end + 1
}

function endOfValue(body: Uint8Array, from: number): number {
  let at = from
  while (at < body.length && (KINDS[body[at]!]! & VALUE) !== 0) at++
  return at
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
      const reference = wordAt(body, REFERENCES, at)
      if (reference === null) return -1
      at += reference.length
    }
  }
  return -1
}
