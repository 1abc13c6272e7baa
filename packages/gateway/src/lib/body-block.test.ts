import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BodyBlock, copyBody } from './body-block.js'

const KB = 1024

function blockOf(text: string): BodyBlock {
  const block = copyBody(Buffer.from(text))
  assert.ok(block instanceof BodyBlock)
  return block
}

test('a reused block contains only its own head and body', () => {
  const first = blockOf('a longer first body')
  assert.equal(first.withHead('POST /first\r\n\r\n')?.toString(), 'POST /first\r\n\r\na longer first body')
  first.release()
  const second = blockOf('second')
  assert.equal(second, first)
  assert.equal(second.withHead('PUT é\r\n\r\n')?.toString('latin1'), 'PUT é\r\n\r\nsecond')
})

test('memory that other code may read is not reused', () => {
  const shared = blockOf('shared')
  const bytes = shared.bytes()
  shared.release()
  blockOf('secret')
  assert.equal(bytes.toString(), 'shared')
})

test('a body or a head that does not fit into a block gets its own memory', () => {
  const large = copyBody(Buffer.alloc(64 * KB, 'x'))
  assert.ok(Buffer.isBuffer(large))
  assert.equal(large.length, 64 * KB)
  assert.equal(blockOf('x').withHead('h'.repeat(4 * KB)), null)
})

test('free blocks are limited to 4 MB', () => {
  const fill = (): (BodyBlock | Buffer)[] =>
    Array.from({ length: 100 }, () => copyBody(Buffer.alloc(40 * KB)))
  const before = new Set(fill())
  for (const block of before) (block as BodyBlock).release()
  const again = fill().filter((block) => before.has(block))
  assert.ok(again.length > 50 && again.length <= 64, `${again.length} blocks were kept`)
})
