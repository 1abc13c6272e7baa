import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteCollector } from './byte-collector.js'

test('chunks of all sizes are joined unchanged and are copied', () => {
  for (const sizes of [[], [0], [3], [3, 5], [5000, 1, 2000, 1, 1], [1, 1023, 1024, 0, 16_000, 1000, 700]]) {
    const bytes = new ByteCollector()
    const expected: number[] = []
    for (const [i, size] of sizes.entries()) {
      const chunk = new Uint8Array(size).fill(i + 1)
      bytes.add(chunk)
      expected.push(...chunk)
      chunk.fill(0)
    }
    assert.deepEqual([...bytes.toBuffer()], expected)
  }
})

test('many tiny chunks cost little more than their bytes', () => {
  const before = process.memoryUsage().heapUsed
  const bytes = new ByteCollector()
  const one = Uint8Array.of(7)
  for (let i = 0; i < 1_000_000; i++) bytes.add(one)
  assert.ok(process.memoryUsage().heapUsed - before < 20_000_000)
  assert.equal(bytes.toBuffer().length, 1_000_000)
})
