import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { actionLine, BLOCK_HEAD_BYTES, blockHead, maxBlockBytes, readBlocks, writeBody } from './block.js'
import { SegmentContent } from './segment-content.js'

const anyLine = fc.stringMatching(/^[ -~]{0,40}$/)
const FIRST = { prefix: 'k', number: 30 }

/** Returns a block with these records. */
function blockOf(texts: readonly string[], first = FIRST): Buffer {
  const lines = Buffer.from(texts.map((text) => `${text}\n`).join(''))
  const room = Buffer.alloc(maxBlockBytes(lines, texts.length, first.prefix))
  const body = room.subarray(0, writeBody(lines, texts.length, first, { room, at: 0 }))
  return Buffer.concat([blockHead(body, texts.length), body])
}

/** Returns the IDs and texts of the records in a file, read one by one. */
function recordsOf(file: Buffer): (readonly [id: string, text: string])[] {
  const { body, records } = readBlocks(Buffer.from(file), FIRST)
  const positions = Array.from({ length: records }, (_, i) => i)
  const { idOf, jsonOf } = new SegmentContent(body, records).shipmentOf(positions, false)
  return positions.map((i) => [idOf(i), jsonOf(i).toString('latin1')])
}

test('lines become the body of a bulk request with consecutive IDs, and come back', () => {
  fc.assert(
    fc.property(fc.array(anyLine), fc.nat({ max: 2 ** 45 }), (texts, number) => {
      const block = blockOf(texts, { prefix: 'k', number })
      const expected = texts.map((text, i) => [`k-${(number + i).toString(36)}`, text] as const)
      const lines = expected.map(([id, text]) => `{"create":{"_id":"${id}"}}\n${text}\n`)
      assert.equal(block.toString('latin1', BLOCK_HEAD_BYTES), lines.join(''))
      assert.deepEqual(recordsOf(block), expected)
      assert.deepEqual(readBlocks(block, FIRST).tornRecords, 0)
    }),
  )
})

test('IDs are unique where their number gets another digit', () => {
  for (const number of [0, 36 ** 2 - 40, 36 ** 3 - 40]) {
    const ids = recordsOf(blockOf(Array(100).fill('{}'), { prefix: 'k', number })).map(([id]) => id)
    assert.deepEqual(
      ids,
      ids.map((_, i) => `k-${(number + i).toString(36)}`),
    )
  }
})

test('a shipment of all records, or of some that follow each other, needs no copy', () => {
  const texts = ['one', 'two', 'three', 'four']
  // A buffer of its own, so that a copy is never in the same one.
  const { body } = readBlocks(Buffer.from(new Uint8Array(blockOf(texts)).buffer), FIRST)
  const content = new SegmentContent(body, texts.length)
  assert.equal(content.shipmentOf([0, 1, 2, 3], false).bulkBody, body)
  const lines = texts.map((text, i) => `${actionLine(`k-${(30 + i).toString(36)}`)}${text}\n`)
  for (const [positions, isCopy] of [
    [[1, 2], false],
    [[3], false],
    [[0, 2, 3], true],
  ] as const) {
    const { bulkBody, count } = content.shipmentOf(positions, false)
    assert.deepEqual(
      [bulkBody.toString(), count],
      [positions.map((i) => lines[i]).join(''), positions.length],
    )
    assert.equal(bulkBody.buffer !== body.buffer, isCopy)
  }
})

test('a torn end costs the block it is in and no other', () => {
  const batches = fc.array(fc.array(anyLine, { minLength: 1 }), { minLength: 1 })
  fc.assert(
    fc.property(batches, fc.nat(), (texts, cut) => {
      const blocks = texts.map((batch) => blockOf(batch))
      const file = Buffer.concat(blocks)
      const size = cut % file.length
      const { records, allRecords, validBytes, tornRecords } = readBlocks(file.subarray(0, size), FIRST)
      let whole = 0
      let start = 0
      for (; start + blocks[whole]!.length <= size; whole++) start += blocks[whole]!.length
      const kept = texts.slice(0, whole).flat().length
      assert.deepEqual([records, allRecords, validBytes], [kept, kept, start])
      const isHeadWhole = size - start >= BLOCK_HEAD_BYTES
      assert.equal(tornRecords, size === start ? 0 : isHeadWhole ? texts[whole]!.length : 1)
    }),
  )
})

test('a damaged block is left out, and the others keep their IDs', () => {
  const blocks = [blockOf(['one']), blockOf(['two', 'three'], { prefix: 'k', number: 31 })]
  const file = Buffer.concat([...blocks, blockOf(['four'], { prefix: 'k', number: 33 })])
  for (const at of [blocks[0]!.length + 4, blocks[0]!.length + BLOCK_HEAD_BYTES + 30]) {
    const damaged = Buffer.from(file)
    damaged[at]! ^= 1
    assert.deepEqual(recordsOf(damaged), [
      ['k-u', 'one'],
      ['k-x', 'four'],
    ])
    const { allRecords, tornRecords } = readBlocks(damaged, FIRST)
    assert.deepEqual([allRecords, tornRecords], [4, 0])
  }
})

test('a damaged header is never taken for a valid one', () => {
  const file = blockOf(['one', 'two'])
  for (let at = 0; at < BLOCK_HEAD_BYTES; at++) {
    const damaged = Buffer.from(file)
    damaged[at]! ^= 1
    assert.deepEqual(recordsOf(damaged), [], `byte ${at}`)
  }
})

test('reading arbitrary bytes neither fails nor reads past the end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const { body, validBytes, tornRecords } = readBlocks(Buffer.from(bytes), FIRST)
      assert.ok(body.length === 0 && validBytes <= bytes.length)
      assert.equal(tornRecords > 0, validBytes < bytes.length)
    }),
  )
})

test('files of earlier versions, which have a header per record, are read with the same IDs', () => {
  const texts = ['{"id":"one"}', '{"id":"two"}', '{"id":"three"}']
  const file = Buffer.concat(
    texts.map((text) => {
      const head = Buffer.alloc(8)
      head.writeUInt32LE(text.length, 0)
      head.writeUInt32LE(crc32(text), 4)
      return Buffer.concat([head, Buffer.from(text)])
    }),
  )
  const all = texts.map((text, i) => [`k-${(30 + i).toString(36)}`, text] as const)
  assert.deepEqual(recordsOf(file), all)
  assert.deepEqual(recordsOf(file.subarray(0, -1)), all.slice(0, 2))
  assert.equal(readBlocks(file.subarray(0, -1), FIRST).tornRecords, 1)
  file[8 + texts[0]!.length + 8]! ^= 1
  assert.deepEqual(recordsOf(file), [all[0], all[2]])
  assert.equal(readBlocks(file, FIRST).allRecords, 3)
})
