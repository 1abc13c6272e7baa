/** Name of the added export: the function table, through which the engine calls functions by number. */
export const TABLE_EXPORT = 'functions'

const HEADER_BYTES = 8
const SECTION = { table: 4, export: 7 } as const
const TABLE_KIND = 1

/**
 * Copies a WebAssembly module and exports its function table without a size limit. The original build exports no
 * table, so the gateway could not add a function. The code section stays unchanged.
 * @throws RangeError for a module with another layout
 */
export function withTableExport(binary: Uint8Array): Uint8Array<ArrayBuffer> {
  const parts = [binary.subarray(0, HEADER_BYTES)]
  const seen = new Set<number>()
  for (let at = HEADER_BYTES; at < binary.length; ) {
    const id = binary[at]!
    const [length, begin] = numberAt(binary, at + 1)
    at = begin + length
    const content = changed(id, binary.subarray(begin, at))
    seen.add(id)
    parts.push(Uint8Array.from([id, ...encoded(content.length)]), content)
  }
  if (!seen.has(SECTION.table) || !seen.has(SECTION.export)) throw new RangeError('the module has no table')
  return new Uint8Array(Buffer.concat(parts))
}

function changed(id: number, content: Uint8Array): Uint8Array {
  const [count, begin] = numberAt(content, 0)
  if (id === SECTION.table) {
    if (count !== 1) throw new RangeError('the module does not have exactly one table')
    const [size] = numberAt(content, begin + 2)
    return Uint8Array.from([1, content[begin]!, 0, ...encoded(size)])
  }
  if (id !== SECTION.export) return content
  const name = Buffer.from(TABLE_EXPORT)
  const entry = [name.length, ...name, TABLE_KIND, 0]
  return Buffer.concat([Uint8Array.from(encoded(count + 1)), content.subarray(begin), Uint8Array.from(entry)])
}

/** Reads an unsigned LEB128 number. Returns the value and the position after it. */
function numberAt(bytes: Uint8Array, begin: number): readonly [value: number, end: number] {
  let value = 0
  for (let at = begin, unit = 1; ; at++, unit *= 128) {
    const byte = bytes[at]
    if (byte === undefined) throw new RangeError('the module ends too early')
    value += (byte & 127) * unit
    if (byte < 128) return [value, at + 1]
  }
}

function encoded(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...encoded(Math.floor(value / 128))]
}
