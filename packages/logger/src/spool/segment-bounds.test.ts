import assert from 'node:assert/strict'
import fs, { readdirSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchDir } from '../testing.js'
import { openSpool, put } from './testing/open-spool.js'

test('a segment is sealed when it has reached a mebibyte', () => {
  const { spool } = openSpool(scratchDir())
  // About a thousand records, fewer than the limit for their number.
  const text = Buffer.from(`{"text":"${'x'.repeat(1024)}"}\n`)
  let bytes = 0
  while (bytes + 1500 < 1024 ** 2) {
    spool.append(text, 1)
    bytes = spool.diskBytes
    assert.equal(spool.take(), null)
  }
  for (let i = 0; i < 2; i++) spool.append(text, 1)
  const segment = spool.take()
  assert.ok(segment !== null && segment.bytes >= 1024 ** 2 && segment.bytes < 1024 ** 2 + 1500)
})

test('a segment is sealed when it has 4096 records, however small', () => {
  const { spool } = openSpool(scratchDir())
  const text = Buffer.from('{}\n'.repeat(64))
  for (let records = 64; records <= 4096; records += 64) {
    assert.equal(spool.take(), null)
    spool.append(text, 64)
  }
  assert.equal(spool.take()?.records, 4096)
})

test('a segment is sealed one second after it was opened', () => {
  const { spool } = openSpool(scratchDir())
  const beforeMono = performance.now()
  put(spool, 1)
  const begunMono = performance.now()
  put(spool, 1)
  spool.sealDue(beforeMono + 999)
  assert.equal(spool.take(), null)
  spool.sealDue(begunMono + 1000)
  assert.equal(spool.take()?.records, 2)
  // The same for a segment in memory.
  const full = openSpool(scratchDir(), { minFreeBytes: Number.MAX_SAFE_INTEGER })
  put(full.spool, 1)
  full.spool.sealDue(performance.now() + 1000)
  assert.equal(full.spool.take()?.records, 1)
})

test('a segment that cannot be written is sealed, and later records wait in memory', (t) => {
  const { spool, ledger } = openSpool(scratchDir())
  put(spool, 10)
  const { mock } = t.mock.method(fs, 'writevSync')
  mock.mockImplementationOnce(() => {
    throw new Error('ENOSPC: no space left on device')
  })
  syncBuiltinESMExports()
  put(spool, 5)
  mock.restore()
  syncBuiltinESMExports()
  assert.deepEqual([ledger.account.onDisk, ledger.account.inMemory], [10, 5])
  assert.equal(spool.take()?.records, 10)
  assert.equal(spool.take(), null)
  spool.sealOpen()
  assert.deepEqual([spool.take()?.records, spool.isEmpty], [5, true])
})

test('a spool that is closed leaves its last segment sealed', () => {
  const root = scratchDir()
  const { spool, options } = openSpool(root)
  put(spool, 10)
  spool.close()
  assert.deepEqual(readdirSync(join(root, options.owner)), ['000000000000000-10.seg'])
})
