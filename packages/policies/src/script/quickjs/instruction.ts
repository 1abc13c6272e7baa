import type { WasmReader } from './wasm-reader.js'

/** The opcode of `loop`, whose beginning every turn of a loop passes. */
export const LOOP = 0x03

type Skip = (reader: WasmReader) => void

const nothing: Skip = () => {}
const oneNumber: Skip = (reader) => reader.skipNumber()
const twoNumbers: Skip = (reader) => {
  reader.skipNumber()
  reader.skipNumber()
}

/** What follows the opcodes that have something behind them. */
const OPERANDS = new Map<number, Skip>([
  ...range(0x02, 0x04, oneNumber), // block, loop, if: their type
  ...range(0x0c, 0x0d, oneNumber), // br, br_if
  [0x0e, skipVector], // br_table
  [0x10, oneNumber], // call
  [0x11, twoNumbers], // call_indirect
  [0x1c, (reader) => reader.skip(reader.number())], // select with a type
  ...range(0x20, 0x26, oneNumber), // locals, globals, tables
  ...range(0x28, 0x3e, twoNumbers), // loads and stores: alignment, offset
  ...range(0x3f, 0x42, oneNumber), // memory.size, memory.grow, i32.const, i64.const
  [0x43, (reader) => reader.skip(4)], // f32.const
  [0x44, (reader) => reader.skip(8)], // f64.const
  [0xfc, skipExtended],
])

/** Passes the operands of an instruction. @throws RangeError for one that is not of the core specification. */
export function skipOperands(opcode: number, reader: WasmReader): void {
  const skip = OPERANDS.get(opcode) ?? (isPlain(opcode) ? nothing : null)
  if (skip === null) throw new RangeError(`the WebAssembly binary has the unknown opcode ${opcode}`)
  skip(reader)
}

/** Control without operands, drop and select, comparisons and arithmetic. */
function isPlain(opcode: number): boolean {
  return (
    opcode <= 0x01 ||
    opcode === 0x05 ||
    opcode === 0x0b ||
    opcode === 0x0f ||
    opcode === 0x1a ||
    opcode === 0x1b ||
    (opcode >= 0x45 && opcode <= 0xc4)
  )
}

/** Targets and the default. */
function skipVector(reader: WasmReader): void {
  for (let left = reader.number() + 1; left > 0; left--) reader.skipNumber()
}

/** Saturating truncation has no operands; of the bulk operations most have two. */
function skipExtended(reader: WasmReader): void {
  const opcode = reader.number()
  if (opcode > 0x11) throw new RangeError(`the WebAssembly binary has the unknown opcode 252 ${opcode}`)
  if (opcode <= 0x07) return
  const hasOne = opcode === 0x09 || opcode === 0x0b || opcode === 0x0d || opcode >= 0x0f
  if (hasOne) reader.skipNumber()
  else twoNumbers(reader)
}

function range(from: number, to: number, skip: Skip): [number, Skip][] {
  return Array.from({ length: to - from + 1 }, (_, i) => [from + i, skip])
}
