import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchDir, until } from '../testing.js'
import { Mark, type Progress, takeProgress } from './mark.js'
import { OwnerDirectoryWatch } from './owner-directory.js'

const OWNER = '0123abcd-m0-1-abcdef'

test('an adopter finds the last count of the request path', async () => {
  const dir = scratchDir()
  const mark = new Mark(dir, false)
  mark.set({ encoded: 3, safe: 3, openFirst: 8192, openRecords: 2 })
  for (const encoded of [5, 7, 9]) mark.noteEncoded(encoded)
  await until(() => encodedIn(dir) === 9, 'the last count is there')
  mark.close()
  assert.deepEqual(takeProgress(dir), { encoded: 9, safe: 3, openFirst: 8192, openRecords: 2 })
  assert.equal(takeProgress(dir), null)
})

test('a mark closed during a write accepts no more counts', async () => {
  const dir = scratchDir()
  const mark = new Mark(dir, false)
  // A write of the previous test may still be in progress.
  await until(() => mark.noteEncoded(5), 'it has its turn')
  mark.close()
  mark.noteEncoded(9)
  await until(() => encodedIn(dir) === 5, 'what was under way is there')
  assert.equal(takeProgress(dir)?.encoded, 5)
})

test('only one mark writes at a time, and others must retry', async () => {
  const [dir, other] = [scratchDir(), scratchDir()]
  const [mark, next] = [new Mark(dir, false), new Mark(other, false)]
  // A write of the previous test may still be in progress.
  await until(() => mark.noteEncoded(5), 'the first has its turn')
  assert.equal(next.noteEncoded(7), false)
  await until(() => encodedIn(dir) === 5, 'the first is there')
  await until(() => next.noteEncoded(7), 'the other has its turn')
  await until(() => encodedIn(other) === 7, 'the other is there')
  mark.close()
  next.close()
})

test('only counts that the thread has not saved are written, even without new records', async () => {
  const root = scratchDir()
  const watch = new OwnerDirectoryWatch(root, OWNER)
  watch.count[3] = 4
  assert.equal(watch.note(4), true)
  assert.equal(watch.note(6), false)
  await until(() => watch.note(6), 'it has its turn')
  await until(() => encodedIn(join(root, OWNER)) === 6, 'the rest is there')
  watch.close()
})

test('an unwritten or damaged mark has no progress', () => {
  const dir = scratchDir()
  const path = join(dir, 'mark')
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(24, 1), Buffer.alloc(40, 0xff)]) {
    writeFileSync(path, bytes)
    assert.equal(takeProgress(dir), null)
  }
  const progress: Progress = { encoded: 1, safe: 0, openFirst: -1, openRecords: 0 }
  const mark = new Mark(dir, false)
  mark.set(progress)
  mark.close()
  assert.deepEqual(takeProgress(dir), progress)
})

function encodedIn(dir: string): number {
  const bytes = readFileSync(join(dir, 'mark'))
  return bytes.length < 40 ? 0 : bytes.readDoubleLE(32)
}
