import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { setFields } from '../testing.js'
import { CapturedBody } from './capture.js'
import { Exchange } from './exchange.js'
import { PHASE, PHASE_NAMES } from './phase.js'

test('chunk boundaries do not affect the captured beginning and the size', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 50 })),
      fc.integer({ min: 1, max: 200 }),
      (chunks, limit) => {
        const body = new CapturedBody({ maxBodyBytes: limit, sha256: true }, [])
        for (const chunk of chunks) body.add(chunk)
        const whole = Buffer.concat(chunks)
        assert.deepEqual(Buffer.from(body.beginning), whole.subarray(0, limit))
        assert.equal(body.bytes, whole.length)
        assert.equal(body.isTruncated, whole.length > limit)
        assert.ok(body.beginning.buffer.byteLength <= limit)
      },
    ),
  )
})

test('a captured chunk is a copy', () => {
  const body = new CapturedBody({ maxBodyBytes: 10, sha256: false }, [])
  const chunk = Buffer.from('abc')
  body.add(chunk)
  chunk.fill('x')
  assert.equal(Buffer.from(body.beginning).toString(), 'abc')
})

test('the phases add up to the whole time, in whatever order they come', () => {
  const phases = Object.values(PHASE)
  assert.equal(PHASE_NAMES.length, phases.length)
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...phases), fc.nat(10_000))), (steps) => {
      const x = setFields(new Exchange(), { startedMono: 5 })
      x.times.keep()
      x.times.sinceMono = 5
      let now = 5
      for (const [phase, ms] of steps) {
        now += ms
        x.times.enter(phase, now)
      }
      x.end(now + 3)
      const sum = x.times.ms.reduce((total, ms) => total + ms, 0)
      assert.equal(sum, x.endedMono - x.startedMono)
    }),
  )
})
