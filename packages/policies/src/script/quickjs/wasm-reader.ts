/** Reads a WebAssembly binary (core specification 2.0, section 5) from front to back. */
export class WasmReader {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  byte(): number {
    if (this.at >= this.bytes.length) throw new RangeError('the WebAssembly binary ends too early')
    return this.bytes[this.at++]!
  }

  /** An unsigned number of at most 32 bits (LEB128). */
  number(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new RangeError('the WebAssembly binary has a number that is too long')
  }

  /** Passes a number of any sign and up to 64 bits. */
  skipNumber(): void {
    while (this.byte() >= 0x80);
  }

  skip(count: number): void {
    this.at += count
  }
}

/** An unsigned number as LEB128. */
export function encodedNumber(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  do {
    const low = rest % 128
    rest = Math.floor(rest / 128)
    bytes.push(rest > 0 ? low | 0x80 : low)
  } while (rest > 0)
  return bytes
}
