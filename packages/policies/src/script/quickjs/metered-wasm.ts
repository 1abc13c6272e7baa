import { LOOP, skipOperands } from './instruction.js'
import { encodedNumber, WasmReader } from './wasm-reader.js'

/** The export that holds how many more turns loops may make; at 0 the next one is a trap. */
export const FUEL_EXPORT = 'fuel'
/** The export that holds the functions which the engine calls by their number; one can be added. */
export const TABLE_EXPORT = 'functions'

const HEADER_BYTES = 8
const SECTION = { import: 2, table: 4, global: 6, export: 7, code: 10 } as const
const GLOBAL_KIND = 3
const TABLE_KIND = 1
const I32 = 0x7f
const I32_CONST = 0x41
const I32_STORE = 0x36
const END = 0x0b

/** The engine asks after so many steps whether it should go on (10,000, as its code has it). */
const LONG_INTERVAL: readonly number[] = [0x90, 0xce, 0x00]
/** The same length for 200: a step may fill all of the memory, and 10,000 of those would take seconds. */
const SHORT_INTERVAL = Uint8Array.from([0xc8, 0x81, 0x00])

interface Section {
  readonly id: number
  readonly content: Uint8Array
}

/**
 * A copy of a WebAssembly module in which every turn of every loop takes one unit of fuel. The engine asks whether it
 * should go on between instructions of a script only; one instruction may keep it in a loop of its own for hours, such
 * as `new Array(2 ** 32 - 1).indexOf(1)`. It asks more often, too.
 * @throws RangeError for what it does not understand.
 */
export function meteredWasm(binary: Uint8Array): Uint8Array<ArrayBuffer> {
  const sections = sectionsOf(binary)
  const fuel = importedGlobals(sections) + countOf(sections, SECTION.global)
  const hasTable = sections.some(({ id }) => id === SECTION.table)
  const parts = sections.map(({ id, content }) =>
    section(id, id === SECTION.export ? withExports(content, fuel, hasTable) : rewritten(id, content, fuel)),
  )
  return new Uint8Array(Buffer.concat([binary.subarray(0, HEADER_BYTES), ...parts]))
}

function rewritten(id: number, content: Uint8Array, fuel: number): Uint8Array {
  if (id === SECTION.global) return withEntry(content, [I32, 1, I32_CONST, 0, END])
  if (id === SECTION.table) return growingTable(content)
  if (id === SECTION.code) return meteredCode(content, fuel)
  return content
}

function withExports(content: Uint8Array, fuel: number, hasTable: boolean): Uint8Array {
  const exported = (text: string, kind: number, number: number): number[] => {
    const name = Buffer.from(text)
    return [name.length, ...name, kind, ...encodedNumber(number)]
  }
  const metered = withEntry(content, exported(FUEL_EXPORT, GLOBAL_KIND, fuel))
  return hasTable ? withEntry(metered, exported(TABLE_EXPORT, TABLE_KIND, 0)) : metered
}

function sectionsOf(binary: Uint8Array): Section[] {
  const sections: Section[] = []
  const reader = new WasmReader(binary, HEADER_BYTES)
  while (reader.at < binary.length) {
    const id = reader.byte()
    const length = reader.number()
    sections.push({ id, content: binary.subarray(reader.at, reader.at + length) })
    reader.skip(length)
  }
  return sections
}

function section(id: number, content: Uint8Array): Uint8Array {
  return Buffer.concat([Uint8Array.from([id, ...encodedNumber(content.length)]), content])
}

function countOf(sections: readonly Section[], id: number): number {
  const found = sections.find((one) => one.id === id)
  if (found === undefined) throw new RangeError(`the WebAssembly binary has no section ${id}`)
  return new WasmReader(found.content).number()
}

/** Imported globals have the first numbers. */
function importedGlobals(sections: readonly Section[]): number {
  const found = sections.find(({ id }) => id === SECTION.import)
  if (found === undefined) return 0
  const reader = new WasmReader(found.content)
  let globals = 0
  for (let left = reader.number(); left > 0; left--) {
    reader.skip(reader.number())
    reader.skip(reader.number())
    if (skipImport(reader) === GLOBAL_KIND) globals++
  }
  return globals
}

function skipImport(reader: WasmReader): number {
  const kind = reader.byte()
  if (kind === 0) reader.skipNumber()
  else if (kind === GLOBAL_KIND) reader.skip(2)
  else {
    if (kind === 1) reader.skip(1)
    const hasMost = reader.byte() % 2 === 1
    reader.skipNumber()
    if (hasMost) reader.skipNumber()
  }
  return kind
}

/** A vector with one more entry at its end. */
function withEntry(content: Uint8Array, entry: readonly number[]): Uint8Array {
  const reader = new WasmReader(content)
  const count = encodedNumber(reader.number() + 1)
  return Buffer.concat([Uint8Array.from(count), content.subarray(reader.at), Uint8Array.from(entry)])
}

/** The one table of functions, without an upper bound. */
function growingTable(content: Uint8Array): Uint8Array {
  const reader = new WasmReader(content)
  if (reader.number() !== 1) throw new RangeError('the WebAssembly binary has not one table of functions')
  const type = reader.byte()
  reader.skip(1)
  return Uint8Array.from([1, type, 0, ...encodedNumber(reader.number())])
}

function meteredCode(content: Uint8Array, fuel: number): Uint8Array {
  const reader = new WasmReader(content)
  const count = reader.number()
  const parts: Uint8Array[] = [Uint8Array.from(encodedNumber(count))]
  const toll = tollOf(fuel)
  for (let i = 0; i < count; i++) {
    const length = reader.number()
    const body = meteredBody(content.subarray(reader.at, reader.at + length), toll)
    parts.push(Uint8Array.from(encodedNumber(body.length)), body)
    reader.skip(length)
  }
  return Buffer.concat(parts)
}

/** `if (fuel == 0) unreachable; fuel--`, which leaves the stack as it was. */
function tollOf(fuel: number): Uint8Array {
  const global = encodedNumber(fuel)
  const trap = [0x23, ...global, 0x45, 0x04, 0x40, 0x00, END]
  return Uint8Array.from([...trap, 0x23, ...global, I32_CONST, 1, 0x6b, 0x24, ...global])
}

function meteredBody(body: Uint8Array, toll: Uint8Array): Uint8Array {
  const reader = new WasmReader(body)
  for (let groups = reader.number(); groups > 0; groups--) {
    reader.skipNumber()
    reader.skip(1)
  }
  const parts: Uint8Array[] = []
  let from = 0
  while (reader.at < body.length) {
    const opcode = reader.byte()
    const operandsAt = reader.at
    skipOperands(opcode, reader)
    if (opcode === LOOP) parts.push(body.subarray(from, reader.at), toll)
    else if (opcode === I32_CONST && setsInterval(body, operandsAt))
      parts.push(body.subarray(from, operandsAt), SHORT_INTERVAL)
    else continue
    from = reader.at
  }
  return Buffer.concat([...parts, body.subarray(from)])
}

function setsInterval(body: Uint8Array, at: number): boolean {
  return (
    LONG_INTERVAL.every((byte, i) => body[at + i] === byte) && body[at + LONG_INTERVAL.length] === I32_STORE
  )
}
