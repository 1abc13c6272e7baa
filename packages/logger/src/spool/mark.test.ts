import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { scratchDir } from '../testing.js'
import { createCountPage, readCountPage, removeCountPage, removeLeftoverPages } from './count-page.js'
import { Mark, type Progress, takeProgress } from './mark.js'
import { OwnerDirectoryWatch } from './owner-directory.js'
import { ownerName } from './owner-name.js'

function ownerOf(t: TestContext): string {
  const owner = ownerName(1)
  t.after(() => removeCountPage(owner))
  return owner
}

test('an adopter finds the last count of the request path', (t) => {
  const [root, owner] = [scratchDir(), ownerOf(t)]
  const watch = new OwnerDirectoryWatch(root, owner)
  assert.equal(watch.isExact, true)
  const dir = join(root, owner)
  new Mark(dir, true).set({ encoded: 3, safe: 3, openFirst: 8192, openRecords: 2 })
  watch.keep(9)
  assert.deepEqual(takeProgress(dir, owner), { encoded: 9, safe: 3, openFirst: 8192, openRecords: 2 })
  assert.equal(readCountPage(owner), null)
  assert.equal(takeProgress(dir, owner), null)
  watch.close()
  watch.keep(10)
})

test('the records of a thread that has never written its mark are counted', (t) => {
  const [root, owner] = [scratchDir(), ownerOf(t)]
  new OwnerDirectoryWatch(root, owner).keep(5)
  const progress = takeProgress(join(root, owner), owner)
  assert.deepEqual(progress, { encoded: 5, safe: 0, openFirst: 0, openRecords: 0 })
})

test('records of an ended thread are counted once: as lost, or for it, or for its successor', (t) => {
  const [root, owner, next] = [scratchDir(), ownerOf(t), ownerOf(t)]
  const watch = new OwnerDirectoryWatch(root, owner)
  watch.keep(10)
  watch.threadBegan(owner)
  watch.threadLost(2)
  assert.equal(readCountPage(owner), 8)
  // Seven records were the thread's, and three were waiting when it ended.
  watch.count[1] = 7
  watch.keep(12)
  assert.equal(readCountPage(owner), 10)
  watch.threadBegan(next)
  assert.deepEqual([readCountPage(owner), readCountPage(next)], [5, 5])
  watch.keep(13)
  assert.deepEqual([readCountPage(owner), readCountPage(next)], [5, 6])
})

test('a page is deleted when its process has ended and nothing else of its owner is left', (t) => {
  const [own, left, waiting, inside] = [ownerOf(t), ownerOf(t), ownerOf(t), ownerOf(t)]
  const root = scratchDir()
  mkdirSync(join(root, `${waiting}~${own}`))
  mkdirSync(join(root, own, waiting, inside), { recursive: true })
  const program = `import { createCountPage } from '${new URL('count-page.js', import.meta.url)}'
    for (const owner of ['${left}', '${waiting}', '${inside}']) createCountPage('${root}', owner, [1, 0])`
  execFileSync(process.execPath, ['--input-type=module', '--eval', program])
  createCountPage(root, own, [1, 0])
  const owners = [own, left, waiting, inside]
  assert.deepEqual(owners.map(readCountPage), [1, 1, 1, 1])
  removeLeftoverPages()
  assert.deepEqual(owners.map(readCountPage), [1, null, 1, 1])
})

test('a page from another mount namespace is kept, because its spool root cannot be seen', (t) => {
  if (spawnSync('unshare', ['-m', 'true']).status !== 0) return t.skip('no mount namespaces')
  const owner = ownerOf(t)
  const program = `import { createCountPage } from '${new URL('count-page.js', import.meta.url)}'
    createCountPage('${scratchDir()}', '${owner}', [1, 0])`
  execFileSync('unshare', ['-m', process.execPath, '--input-type=module', '--eval', program])
  removeLeftoverPages()
  assert.equal(readCountPage(owner), 1)
})

test('without a page, the count in the mark is used, unless the mark is unwritten or damaged', (t) => {
  const [dir, owner] = [scratchDir(), ownerOf(t)]
  const path = join(dir, 'mark')
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(24, 1), Buffer.alloc(32, 0xff)]) {
    writeFileSync(path, bytes)
    assert.equal(takeProgress(dir, owner), null)
    assert.equal(existsSync(path), false)
  }
  const progress: Progress = { encoded: 1, safe: 0, openFirst: -1, openRecords: 0 }
  const mark = new Mark(dir, false)
  mark.set(progress)
  mark.close()
  assert.deepEqual(takeProgress(dir, owner), progress)
})
