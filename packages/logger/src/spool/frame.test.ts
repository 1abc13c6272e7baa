import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Framer, indexFrames } from './frame.js'

const anyLine = fc.stringMatching(/^[ -~]{0,40}$/)

function linesOf(texts: readonly string[]): Buffer {
  return Buffer.from(texts.map((text) => `${text}\n`).join(''))
}

function textsOf(bytes: Buffer): string[] {
  const { starts, ends } = indexFrames(bytes)
  return starts.map((start, i) => bytes.toString('latin1', start, ends[i]))
}

test('lines become frames and come back', () => {
  fc.assert(
    fc.property(fc.array(anyLine), (texts) => {
      const frames = new Framer().framesOf(linesOf(texts), texts.length)
      assert.deepEqual(textsOf(frames), texts)
      assert.equal(indexFrames(frames).validBytes, frames.length)
    }),
  )
})

test('a torn end costs the record it is in and no other', () => {
  fc.assert(
    fc.property(fc.array(anyLine, { minLength: 1 }), fc.nat(), (texts, cut) => {
      const frames = new Framer().framesOf(linesOf(texts), texts.length)
      const kept = frames.subarray(0, cut % frames.length)
      const found = textsOf(kept)
      assert.deepEqual(found, texts.slice(0, found.length))
      const next = texts[found.length]!
      const validBytes = indexFrames(kept).validBytes
      assert.ok(kept.length - validBytes < 8 + next.length)
    }),
  )
})

test('a damaged record is left out, and those after it keep their positions', () => {
  const frames = new Framer().framesOf(linesOf(['one', 'two', 'three']), 3)
  frames[8 + 3 + 8]! ^= 1
  const { starts, ordinals } = indexFrames(frames)
  assert.equal(starts.length, 2)
  assert.deepEqual(ordinals, [0, 2])
})

test('reading arbitrary bytes neither fails nor reads past the end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const { starts, ends, validBytes } = indexFrames(Buffer.from(bytes))
      assert.equal(starts.length, ends.length)
      assert.ok(validBytes <= bytes.length)
    }),
  )
})
