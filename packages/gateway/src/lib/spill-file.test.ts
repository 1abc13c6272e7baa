import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SpillFile } from './spill-file.js'

test('bytes come out in order, however they are split', () => {
  const step = fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.integer({ min: 1, max: 400 }))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const file = new SpillFile()
      const put: number[] = []
      const got: number[] = []
      for (const one of steps) {
        if (typeof one === 'number') got.push(...file.take(one))
        else {
          file.append(one)
          put.push(...one)
        }
      }
      while (!file.isEmpty) got.push(...file.take(100))
      file.close()
      assert.deepEqual(got, put)
    }),
  )
})
