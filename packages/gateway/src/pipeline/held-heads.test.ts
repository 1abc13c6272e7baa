import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdHead } from './held-heads.js'

test('heads are flushed once, in order, after the code that held them', async () => {
  const flushed: string[] = []
  const head = (name: string) => ({ flushHead: () => void flushed.push(name) })
  holdHead(head('a'))
  holdHead(head('b'))
  assert.deepEqual(flushed, [])
  await Promise.resolve()
  assert.deepEqual(flushed, ['a', 'b'])
  await Promise.resolve()
  assert.deepEqual(flushed, ['a', 'b'])
})

test('a head held while heads are flushed waits for the next turn', async () => {
  const flushed: string[] = []
  const late = { flushHead: () => void flushed.push('late') }
  const first = {
    flushHead: () => {
      flushed.push('first')
      holdHead(late)
    },
  }
  const second = { flushHead: () => void flushed.push('second') }
  holdHead(first)
  holdHead(second)
  await Promise.resolve()
  assert.deepEqual(flushed, ['first', 'second'])
  await Promise.resolve()
  assert.deepEqual(flushed, ['first', 'second', 'late'])
})
