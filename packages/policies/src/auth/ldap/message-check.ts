/** A BER element: its tag and the position of its content. */
interface Element {
  readonly tag: number
  readonly start: number
  readonly end: number
}

const SEQUENCE = 0x30
const SET = 0x31
const INTEGER = 0x02
const OCTETS = 0x04
const ENUMERATED = 0x0a
const CONTROLS = 0xa0
/** Tags of responses with a result code: bind response, search result done and extended response. */
const RESULTS: ReadonlySet<number> = new Set([0x61, 0x65, 0x78])
const ENTRY = 0x64
const REFERENCE = 0x73
/** Maximum size of the tag and length of a message, in bytes. */
const MAX_HEAD = 6
const MAX_LENGTH_BYTES = 4

/** Returns the length of the message in bytes, 0 if not known yet, or null if the bytes are not a message. */
export function messageLength(bytes: Uint8Array): number | null {
  if (bytes.length === 0) return 0
  if (bytes[0] !== SEQUENCE) return null
  const head = headAt(bytes, 0)
  if (head !== null) return head.end
  return bytes.length >= MAX_HEAD ? null : 0
}

/**
 * Returns a message (RFC 4511, 4.1.1) reduced to its id and response, without controls and without data after
 * the result. Returns null if it is malformed.
 * The client library trusts lengths and tags, so it must not see malformed messages.
 */
export function checkedMessage(bytes: Uint8Array): Uint8Array | null {
  const message = headAt(bytes, 0)
  if (message === null || message.tag !== SEQUENCE || message.end !== bytes.length) return null
  const [id, response, controls, ...more] = childrenOf(bytes, message) ?? []
  if (id === undefined || response === undefined || more.length > 0) return null
  if (!isNumber(id, INTEGER) || (controls !== undefined && controls.tag !== CONTROLS)) return null
  const checked = checkedResponse(bytes, response)
  if (checked === null) return null
  return element(SEQUENCE, element(INTEGER, bytes.subarray(id.start, id.end)), checked)
}

function checkedResponse(bytes: Uint8Array, response: Element): Uint8Array | null {
  const parts = childrenOf(bytes, response)
  if (parts === null) return null
  if (RESULTS.has(response.tag)) {
    const [code, matched, text] = parts
    if (code === undefined || !isNumber(code, ENUMERATED)) return null
    if (matched?.tag !== OCTETS || text?.tag !== OCTETS) return null
    return element(response.tag, bytes.subarray(parts[0]!.head, text.end))
  }
  const isSound =
    response.tag === REFERENCE
      ? parts.length > 0 && parts.every(({ tag }) => tag === OCTETS)
      : response.tag === ENTRY && isEntry(bytes, parts)
  return isSound ? element(response.tag, bytes.subarray(response.start, response.end)) : null
}

function isEntry(bytes: Uint8Array, parts: readonly Element[]): boolean {
  const [name, list, ...more] = parts
  if (name?.tag !== OCTETS || list?.tag !== SEQUENCE || more.length > 0) return false
  return childrenOf(bytes, list)?.every((attribute) => isAttribute(bytes, attribute)) === true
}

function isAttribute(bytes: Uint8Array, attribute: Element): boolean {
  if (attribute.tag !== SEQUENCE) return false
  const [type, values, ...more] = childrenOf(bytes, attribute) ?? []
  if (type?.tag !== OCTETS || values?.tag !== SET || more.length > 0) return false
  return childrenOf(bytes, values)?.every(({ tag }) => tag === OCTETS) === true
}

function isNumber({ tag, start, end }: Element, expected: number): boolean {
  return tag === expected && end > start && end - start <= 4
}

interface Child extends Element {
  /** Position of the tag. */
  readonly head: number
}

/** Returns the children that fill an element exactly, or null if they do not. */
function childrenOf(bytes: Uint8Array, { start, end }: Element): Child[] | null {
  const children: Child[] = []
  for (let at = start; at < end; ) {
    const head = headAt(bytes, at)
    if (head === null || head.end > end) return null
    children.push({ ...head, head: at })
    at = head.end
  }
  return children
}

/**
 * Reads tag and length (X.690, 8.1) in the forms that LDAP allows (RFC 4511, 5.1). Returns null for other
 * forms, or if bytes are missing.
 */
function headAt(bytes: Uint8Array, at: number): Element | null {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return null
  if (first < 0x80) return { tag, start: at + 2, end: at + 2 + first }
  const count = first - 0x80
  if (count === 0 || count > MAX_LENGTH_BYTES) return null
  let length = 0
  for (let i = 0; i < count; i++) {
    const byte = bytes[at + 2 + i]
    if (byte === undefined) return null
    length = length * 256 + byte
  }
  return { tag, start: at + 2 + count, end: at + 2 + count + length }
}

function element(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(contents)
  const { length } = content
  const head =
    length < 0x80
      ? [tag, length]
      : [tag, 0x84, length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}
