import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchDir } from '../testing.js'
import { adoptDirectories } from './adoption.js'
import { lockPath } from './lock.js'
import { kill, now, openSpool, put } from './testing/open-spool.js'

test('directories other than spools, such as dead letters, are left alone', () => {
  const root = scratchDir()
  for (const [dir, file] of [
    ['dead', 'a-0.ndjson'],
    ['traffic', 'traffic-0.ndjson'],
  ] as const) {
    mkdirSync(join(root, dir))
    writeFileSync(join(root, dir, file), '{}\n')
  }
  assert.deepEqual(adoptDirectories(root, 'me', Date.now()), { segments: [], dirs: [], changes: [] })
  assert.deepEqual(readdirSync(root).sort(), ['dead', 'traffic'])
})

test("losses of this process's threads are not counted again, even if the first adopter is interrupted", () => {
  const root = scratchDir()
  const thread = openSpool(root, { encoded: () => 17 })
  put(thread.spool, 10)
  const { owner } = thread.options
  // A thread counts as ended after a long silence.
  utimesSync(lockPath(root, owner), 0, 0)
  const adopter = openSpool(root)
  renameSync(join(root, owner), join(root, adopter.options.owner, owner))
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.equal(ledger.account.received, 0)
  kill(root, adopter.options.owner)
  spool.maintain(now())
  const { received, onDisk, dropped } = ledger.account
  assert.deepEqual({ received, onDisk, dropped }, { received: 10, onDisk: 10, dropped: 0 })
})

test('a directory that cannot be moved next to that of its last owner is taken over where it is', () => {
  const root = scratchDir()
  const [first, second, third] = [openSpool(root), openSpool(root), openSpool(root)]
  put(first.spool, 10)
  put(second.spool, 5)
  kill(root, first.options.owner)
  second.spool.maintain(now())
  kill(root, second.options.owner)
  const { spool, ledger, options } = third
  mkdirSync(join(root, options.owner, first.options.owner, 'full'), { recursive: true })
  spool.maintain(now())
  assert.equal(ledger.account.onDisk, 15)
  for (let segment = spool.take(); segment !== null; segment = spool.take()) spool.settle(segment)
  spool.maintain(now())
  spool.maintain(now())
  assert.deepEqual(readdirSync(join(root, options.owner)).sort(), [first.options.owner, 'mark'])
})
