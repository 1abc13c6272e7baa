/** Maximum number of values per record. City records with names in eight languages have about 200. */
const MAX_VALUES = 2000
/** Maximum total size of all strings in a record. */
const MAX_TEXT_BYTES = 64 * 1024
/** Maximum nesting depth, including pointers. */
const MAX_DEPTH = 16

const POINTER = 1
const MAP = 7
const ARRAY = 11

/** Bounds of the section that contains the records. Pointers are relative to `base`. */
interface DataSection {
  readonly base: number
  readonly end: number
}

/**
 * Decodes one value of a MaxMind DB (specification 2.0, "Output Data Section"). Maps become objects without a
 * prototype. Integers above 2^53 lose precision.
 * @throws Error if the value is invalid, or larger than location records are.
 */
export function readRecord(bytes: Buffer, at: number, section: DataSection): unknown {
  return new RecordReader(bytes, at, section).value(0)
}

class RecordReader {
  readonly #bytes: Buffer
  readonly #section: DataSection
  #at: number
  #values = MAX_VALUES
  #textBytes = MAX_TEXT_BYTES

  constructor(bytes: Buffer, at: number, section: DataSection) {
    this.#bytes = bytes
    this.#section = section
    this.#at = at
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH || this.#values-- === 0) throw new Error('a record is larger than the maximum')
    const control = this.#number(1)
    const kind = control >> 5
    if (kind === POINTER) return this.#pointed(control, depth)
    const type = kind === 0 ? 7 + this.#number(1) : kind
    const size = this.#size(control & 31)
    if (type === MAP) return this.#map(size, depth)
    return type === ARRAY ? this.#array(size, depth) : this.#scalar(type, size)
  }

  #pointed(control: number, depth: number): unknown {
    const bytes = ((control >> 3) & 3) + 1
    const high = bytes === 4 ? 0 : (control & 7) * 2 ** (8 * bytes)
    const first = [0, 2048, 526_336, 0][bytes - 1]!
    const target = this.#section.base + high + this.#number(bytes) + first
    const behind = this.#at
    this.#at = target
    const value = this.value(depth + 1)
    this.#at = behind
    return value
  }

  #size(short: number): number {
    if (short < 29) return short
    return [29, 285, 65_821][short - 29]! + this.#number(short - 28)
  }

  #map(size: number, depth: number): unknown {
    const map: Record<string, unknown> = Object.create(null)
    for (let i = 0; i < size; i++) {
      const key = this.value(depth + 1)
      if (typeof key !== 'string') throw new Error('a key in a record is not a string')
      map[key] = this.value(depth + 1)
    }
    return map
  }

  #array(size: number, depth: number): unknown {
    const array: unknown[] = []
    for (let i = 0; i < size; i++) array.push(this.value(depth + 1))
    return array
  }

  #scalar(type: number, size: number): unknown {
    switch (type) {
      case 2: {
        this.#textBytes -= size
        if (this.#textBytes < 0) throw new Error('a record is larger than the maximum')
        const start = this.#take(size)
        return this.#bytes.toString('utf8', start, start + size)
      }
      case 3:
        return this.#bytes.readDoubleBE(this.#take(8))
      case 15:
        return this.#bytes.readFloatBE(this.#take(4))
      case 14:
        return size !== 0
      // Unsigned integers of 16, 32, 64 and 128 bits, without leading zeros.
      case 5:
      case 6:
      case 9:
      case 10:
        return this.#number(Math.min(size, 16))
      case 8:
        return size === 4 ? this.#number(4) | 0 : this.#number(Math.min(size, 4))
      case 4:
        this.#take(size)
        return null
      default:
        throw new Error('a record has a value of an unknown type')
    }
  }

  #number(size: number): number {
    const start = this.#take(size)
    let number = 0
    for (let i = 0; i < size; i++) number = number * 256 + this.#bytes[start + i]!
    return number
  }

  /** Advances over bytes and returns their offset. @throws Error if they lie outside the section. */
  #take(size: number): number {
    const start = this.#at
    if (start < this.#section.base || start + size > this.#section.end)
      throw new Error('a record extends past the end of the data')
    this.#at += size
    return start
  }
}
