const COLON = 0x3a
const HASH = 0x23
const SLASH = 0x2f

const NAME_START = 1
const NAME = 2
const URI = 4

const KINDS = kinds()

function kinds(): Uint8Array {
  const table = new Uint8Array(256)
  const mark = (bytes: string, bits: number): void => {
    for (const byte of Buffer.from(bytes)) table[byte]! |= bits
  }
  mark('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_', NAME_START | NAME | URI)
  mark('0123456789.-', NAME | URI)
  mark('/', URI)
  return table
}

/** Schemes of namespaces that every parser accepts, if only characters without a special meaning in URIs follow. */
const URN = Buffer.from('urn:')
const SCHEMES = [Buffer.from('http://'), Buffer.from('https://'), URN]
/** Namespaces of XML itself, which must not be declared for other prefixes. */
const RESERVED = ['http://www.w3.org/XML/1998/namespace', 'http://www.w3.org/2000/xmlns/'].map((text) =>
  Buffer.from(text),
)

/** Returns true if the body contains the given bytes at this position. */
export function isAt(body: Uint8Array, wanted: Uint8Array, at: number): boolean {
  for (let i = 0; i < wanted.length; i++) if (body[at + i] !== wanted[i]) return false
  return true
}

/** Returns true if the bytes from `start` to `end` occur again at `at`. */
export function isRepeated(body: Uint8Array, at: number, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (body[at + i - start] !== body[i]) return false
  return true
}

/** Returns the position after a name of ASCII letters with at most one prefix, or -1. */
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

/** Returns the position after a namespace URI that every parser accepts, or -1 for any other or an empty one. */
export function endOfNamespace(body: Uint8Array, from: number): number {
  if (wordAt(body, RESERVED, from) !== null) return -1
  const scheme = wordAt(body, SCHEMES, from)
  if (scheme === null) return -1
  const first = from + scheme.length
  // Two slashes announce a host, and a colon after it a port. So this is not a URN.
  if (scheme === URN && body[first] === SLASH) return -1
  const end = endOfUri(body, first, scheme === URN)
  if (end === first) return -1
  return body[end] === HASH ? endOfUri(body, end + 1, false) : end
}

/** Returns the one of some words that occurs at this position, or null. */
export function wordAt(body: Uint8Array, words: readonly Uint8Array[], at: number): Uint8Array | null {
  for (let i = 0; i < words.length; i++) if (isAt(body, words[i]!, at)) return words[i]!
  return null
}

/** Returns the end of a URI. In a URN colons are ordinary characters; elsewhere a port may follow. */
function endOfUri(body: Uint8Array, from: number, hasColons: boolean): number {
  let at = from
  while (at < body.length && ((KINDS[body[at]!]! & URI) !== 0 || (hasColons && body[at] === COLON))) at++
  return at
}
