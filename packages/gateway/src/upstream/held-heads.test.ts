import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginRead, endRead, holdHead } from './held-heads.js'

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

test('heads held during a read are flushed with its end, without a microtask', () => {
  const flushed: string[] = []
  const head = (name: string) => ({ flushHead: () => void flushed.push(name) })
  beginRead()
  holdHead(head('a'))
  beginRead()
  holdHead(head('b'))
  endRead()
  assert.deepEqual(flushed, [])
  endRead()
  assert.deepEqual(flushed, ['a', 'b'])
})

test('a head held before a read, or while its heads are flushed, is flushed too', async () => {
  const flushed: string[] = []
  const head = (name: string) => ({ flushHead: () => void flushed.push(name) })
  holdHead(head('before'))
  beginRead()
  holdHead({
    flushHead: () => {
      flushed.push('during')
      holdHead(head('late'))
    },
  })
  endRead()
  assert.deepEqual(flushed, ['before', 'during'])
  await Promise.resolve()
  await Promise.resolve()
  assert.deepEqual(flushed, ['before', 'during', 'late'])
})
