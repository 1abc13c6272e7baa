import { decodeHuffman, MAX_STRING_BYTES, STATIC_ENTRIES, STATIC_TABLE } from './hpack-tables.js'

/** Maximum size of the dynamic table in bytes, the default of SETTINGS_HEADER_TABLE_SIZE. */
const TABLE_BYTES = 4096
/** Size of an entry in addition to its name and value (RFC 7541 section 4.1). */
const ENTRY_BYTES = 32
/** Factor of the last byte of an integer. Longer ones are invalid, because no block needs them. */
const MAX_FACTOR = 128 ** 3

/** Limits for the decoded fields of one block. */
export interface FieldLimits {
  readonly maxFields: number
  /** Maximum size in bytes, with 32 bytes for each field. */
  readonly maxBytes: number
}

/** Decoder for the header blocks of a connection (RFC 7541). */
export class HpackDecoder {
  /** Decoded fields of the last block: names and values in turn. Incomplete if `isTooLarge`. */
  fields: string[] = []
  /** True if the last block exceeds the limits. It was decoded for the sake of the dynamic table. */
  isTooLarge = false
  /** Dynamic table: names and values in turn, the oldest entry first. */
  readonly #table: string[] = []
  #tableBytes = 0
  #maxTableBytes = TABLE_BYTES
  #block: Buffer = Buffer.alloc(0)
  #at = 0
  #end = 0
  #isInvalid = false

  /** Decodes a block. Returns false if it is invalid, which ends the connection (COMPRESSION_ERROR). */
  decode(block: Buffer, { maxFields, maxBytes }: FieldLimits): boolean {
    this.#block = block
    this.#at = 0
    this.#end = block.length
    this.#isInvalid = false
    this.fields = []
    this.isTooLarge = false
    let bytes = 0
    let canResize = true
    while (this.#at < this.#end && !this.#isInvalid) {
      const first = block[this.#at]!
      if ((first & 0xe0) === 0x20) {
        const size = this.#readInteger(5)
        // Only at the beginning of a block (RFC 7541 section 4.2).
        if (!canResize || size > TABLE_BYTES) return false
        this.#maxTableBytes = size
        this.#evict(0)
        continue
      }
      canResize = false
      bytes += this.#readField(first, bytes > maxBytes || this.fields.length >= 2 * maxFields)
    }
    this.isTooLarge = bytes > maxBytes || this.fields.length > 2 * maxFields
    return !this.#isInvalid
  }

  /** Reads a field. Returns its size, or more than any limit if it was dropped. */
  #readField(first: number, isDropped: boolean): number {
    let name: string
    let value: string
    if (first >= 0x80) {
      const index = this.#readInteger(7)
      name = this.#entry(index, 0)
      value = this.#entry(index, 1)
    } else {
      const isIndexed = first >= 0x40
      const index = this.#readInteger(isIndexed ? 6 : 4)
      name = index === 0 ? fieldName(this.#readString()) : this.#entry(index, 0)
      value = this.#readString()
      if (isIndexed && !this.#isInvalid) this.#keep(name, value)
    }
    if (isDropped) return Number.POSITIVE_INFINITY
    this.fields.push(name, value)
    return name.length + value.length + ENTRY_BYTES
  }

  /** Returns the name (0) or value (1) of an entry. */
  #entry(index: number, part: 0 | 1): string {
    const list = index <= STATIC_ENTRIES ? STATIC_TABLE : this.#table
    const at = index <= STATIC_ENTRIES ? 2 * (index - 1) : list.length - 2 * (index - STATIC_ENTRIES)
    const text = list[at + part]
    if (text !== undefined) return text
    this.#isInvalid = true
    return ''
  }

  #keep(name: string, value: string): void {
    const bytes = name.length + value.length + ENTRY_BYTES
    this.#evict(bytes)
    // An entry larger than the table empties it (RFC 7541 section 4.4).
    if (bytes > this.#maxTableBytes) return
    this.#table.push(name, value)
    this.#tableBytes += bytes
  }

  /** Removes the oldest entries until there is room. */
  #evict(bytes: number): void {
    let removed = 0
    while (removed < this.#table.length && this.#tableBytes + bytes > this.#maxTableBytes) {
      this.#tableBytes -= this.#table[removed]!.length + this.#table[removed + 1]!.length + ENTRY_BYTES
      removed += 2
    }
    if (removed > 0) this.#table.splice(0, removed)
  }

  /** Reads an integer with a prefix of some bits (RFC 7541 section 5.1). */
  #readInteger(bits: number): number {
    const mask = (1 << bits) - 1
    let value = this.#block[this.#at++]! & mask
    if (value < mask) return value
    for (let factor = 1; factor <= MAX_FACTOR && this.#at < this.#end; factor *= 128) {
      const byte = this.#block[this.#at++]!
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
    this.#isInvalid = true
    return 0
  }

  #readString(): string {
    if (this.#at >= this.#end) this.#isInvalid = true
    if (this.#isInvalid) return ''
    const isHuffman = this.#block[this.#at]! >= 0x80
    const length = this.#readInteger(7)
    const start = this.#at
    this.#at += length
    if (this.#at > this.#end || length > MAX_STRING_BYTES) this.#isInvalid = true
    if (this.#isInvalid) return ''
    if (!isHuffman) return this.#block.toString('latin1', start, this.#at)
    const text = decodeHuffman(this.#block, start, this.#at)
    if (text === null) this.#isInvalid = true
    return text ?? ''
  }
}

/** First character of a name that is not valid. The length stays, because it counts for the dynamic table. */
const INVALID = '\0'

/** Returns the name, marked if it has capital letters or other characters that no name can have. */
function fieldName(name: string): string {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i)
    if (code >= 97 && code <= 122) continue
    if (code <= 32 || code >= 127 || (code >= 65 && code <= 90) || (code === 58 && i > 0))
      return INVALID + name.slice(1)
  }
  return name
}

/** Returns true for a decoded name that is not valid (RFC 9113 section 8.2.1). */
export function isInvalidName(name: string): boolean {
  return name === '' || name.charCodeAt(0) === 0
}
