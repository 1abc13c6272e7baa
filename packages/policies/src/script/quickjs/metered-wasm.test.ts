import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FUEL_EXPORT, meteredWasm } from './metered-wasm.js'
import { type WasmGlobal, webAssembly } from './web-assembly.js'

/** `(func (export "spin") (param i32) (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))` */
const SPIN = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...[1, 5, 1, 0x60, 1, 0x7f, 0],
  ...[3, 2, 1, 0],
  ...[6, 6, 1, 0x7f, 0, 0x41, 7, 0x0b],
  ...[7, 8, 1, 4, 0x73, 0x70, 0x69, 0x6e, 0, 0],
  ...[10, 16, 1, 14, 0, 0x03, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b, 0x0b],
])

async function spinning(): Promise<{ fuel: WasmGlobal; spin: (turns: number) => void }> {
  const compiled = await webAssembly.compile(meteredWasm(SPIN))
  const { exports } = new webAssembly.Instance(compiled, {})
  return { fuel: exports[FUEL_EXPORT] as WasmGlobal, spin: exports['spin'] as (turns: number) => void }
}

test('every turn of a loop takes one unit of fuel, and without fuel it is a trap', async () => {
  const { fuel, spin } = await spinning()
  fuel.value = 100
  spin(60)
  assert.equal(fuel.value, 40)
  assert.throws(() => spin(60), webAssembly.RuntimeError)
  assert.equal(fuel.value, 0)
  fuel.value = 60
  spin(60)
})

test('what is not understood is refused, never passed on unmetered', () => {
  const unknown = SPIN.slice()
  unknown[unknown.length - 2] = 0xfe
  assert.throws(() => meteredWasm(unknown), /unknown opcode/)
  assert.throws(() => meteredWasm(SPIN.subarray(0, 20)), RangeError)
})
