import assert from 'node:assert/strict'
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchDir } from '../testing.js'
import type { Receipt } from '../writer/messages.js'
import { lockPath } from './lock.js'
import { ownerName } from './owner-name.js'
import { Spool, type SpoolOptions } from './spool.js'

/** A spool whose account is kept as the owner of its thread would. */
class Ledger {
  readonly account = { received: 0, indexed: 0, dead: 0, dropped: 0, onDisk: 0, inMemory: 0 }
  readonly reasons: string[] = []
  readonly problems: string[] = []

  readonly tell = (change: Partial<Receipt>): void => {
    const { records = 0, adopted = 0, indexed = 0, dead = 0, dropped = 0, onDisk = 0, inMemory = 0 } = change
    assert.equal(records + adopted, indexed + dead + dropped + onDisk + inMemory, JSON.stringify(change))
    this.account.received += records + adopted
    this.account.indexed += indexed
    this.account.dead += dead
    this.account.dropped += dropped
    this.account.onDisk += onDisk
    this.account.inMemory += inMemory
    if (change.reason) this.reasons.push(change.reason)
    if (change.problem) this.problems.push(change.problem)
  }
}

function open(root: string, changes: Partial<SpoolOptions> = {}) {
  const ledger = new Ledger()
  const options: SpoolOptions = {
    ...{ root, owner: ownerName(1), encoded: () => ledger.account.received },
    ...{ maxBytes: 64 * 1024 ** 2, whenFull: 'drop-oldest' as const },
    ...changes,
  }
  return { spool: new Spool(options, ledger.tell), ledger, options }
}

function lines(count: number, text = 'x'.repeat(100)): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, i) => `{"n":${i},"t":"${text}"}\n`).join(''))
}

function recordsIn(spool: Spool): number {
  let records = 0
  for (let segment = spool.take(); segment !== null; segment = spool.take()) {
    records += segment.read().index.starts.length
    spool.settle(segment)
  }
  return records
}

/** Makes an owner look as if its process had ended long ago. */
function kill(root: string, owner: string): void {
  const path = lockPath(root, owner)
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), pid: 2 ** 22 + 1 }))
}

test('what was taken in is on disk before it is shipped, and gone when it has been', () => {
  const root = scratchDir()
  const { spool, ledger, options } = open(root)
  spool.append(lines(10), 10)
  assert.deepEqual(readdirSync(join(root, options.owner)), ['000000000000000.open'])
  assert.equal(ledger.account.onDisk, 10)
  spool.sealOpen()
  assert.deepEqual(readdirSync(join(root, options.owner)), ['000000000000000-10.seg'])
  assert.equal(recordsIn(spool), 10)
  spool.close()
  assert.deepEqual(readdirSync(root), [])
})

test('the spool of an owner that was killed is taken over, records that died with it are counted', () => {
  const root = scratchDir()
  const dead = open(root, { encoded: () => 17 })
  dead.spool.append(lines(10), 10)
  kill(root, dead.options.owner)
  const { spool, ledger } = open(root)
  spool.look(Date.now())
  assert.deepEqual(
    { ...ledger.account, reasons: ledger.reasons },
    { received: 17, indexed: 0, dead: 0, dropped: 7, onDisk: 10, inMemory: 0, reasons: ['process_lost'] },
  )
  assert.equal(recordsIn(spool), 10)
  spool.close()
  assert.deepEqual(readdirSync(root), [])
})

test('a living owner is left alone, and of two heirs one inherits', () => {
  const root = scratchDir()
  const dead = open(root)
  dead.spool.append(lines(10), 10)
  const heirs = [open(root), open(root)]
  for (const { spool } of heirs) spool.look(Date.now())
  assert.deepEqual(
    heirs.map(({ ledger }) => ledger.account.received),
    [0, 0],
  )
  kill(root, dead.options.owner)
  for (const { spool } of heirs) spool.look(Date.now())
  assert.deepEqual(
    heirs.map(({ ledger }) => ledger.account.received),
    [10, 0],
  )
})

test('an heir that is killed is inherited in its turn, and ids stay those of the first owner', () => {
  const root = scratchDir()
  const first = open(root)
  first.spool.append(lines(3), 3)
  kill(root, first.options.owner)
  const second = open(root)
  second.spool.look(Date.now())
  kill(root, second.options.owner)
  const third = open(root)
  third.spool.look(Date.now())
  assert.equal(third.ledger.account.onDisk, 3)
  assert.equal(third.spool.take()?.place.prefix, first.options.owner)
})

test('an owner of another machine is taken for dead only after a long silence', () => {
  const root = scratchDir()
  const far = open(root)
  far.spool.append(lines(1), 1)
  const path = lockPath(root, far.options.owner)
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), host: 'another' }))
  const { spool, ledger } = open(root)
  spool.look(Date.now())
  assert.equal(ledger.account.received, 0)
  utimesSync(path, 0, 0)
  spool.look(Date.now())
  assert.equal(ledger.account.received, 1)
})

test('a torn end is cut off and counted', () => {
  const root = scratchDir()
  const dead = open(root)
  dead.spool.append(lines(10), 10)
  const file = join(root, dead.options.owner, '000000000000000.open')
  truncateSync(file, readFileSync(file).length - 5)
  kill(root, dead.options.owner)
  const { spool, ledger } = open(root)
  spool.look(Date.now())
  assert.deepEqual([ledger.account.onDisk, ledger.account.dropped, ledger.reasons], [9, 1, ['corrupt']])
  assert.equal(recordsIn(spool), 9)
})

test('at the bound the oldest records give way, counted', () => {
  const { spool, ledger } = open(scratchDir(), { maxBytes: 100_000 })
  for (let i = 0; i < 20; i++) {
    spool.append(lines(100), 100)
    spool.sealOpen()
    assert.ok(spool.diskBytes <= 100_000, `${spool.diskBytes} bytes`)
  }
  assert.equal(ledger.account.received, 2000)
  assert.equal(ledger.account.dropped, 2000 - ledger.account.onDisk)
  assert.deepEqual([...new Set(ledger.reasons)], ['spool_full'])
  assert.equal(recordsIn(spool), ledger.account.onDisk)
})

test('or the newest, when that is what was asked for', () => {
  const { spool, ledger } = open(scratchDir(), { maxBytes: 100_000, whenFull: 'drop-newest' })
  for (let i = 0; i < 20; i++) spool.append(lines(100), 100)
  spool.sealOpen()
  assert.equal(spool.take()?.place.first, 0)
  assert.equal(ledger.account.received, 2000)
  assert.ok(ledger.account.dropped > 1000)
})

test('records wait in memory up to a bound when the directory is in the way of itself', () => {
  const root = scratchDir()
  const { spool, ledger, options } = open(root)
  // A file where the directory should be: root cannot write there either.
  rmSync(join(root, options.owner), { recursive: true })
  writeFileSync(join(root, options.owner), '')
  for (let i = 0; i < 2000; i++) spool.append(lines(100), 100)
  const { received, inMemory, dropped, onDisk } = ledger.account
  assert.deepEqual([received, onDisk], [200_000, 0])
  assert.ok(inMemory > 100_000 && inMemory < 180_000, `${inMemory} kept`)
  assert.equal(dropped, received - inMemory)
  assert.deepEqual([...new Set(ledger.reasons)], ['disk_full'])
  assert.match(ledger.problems[0] ?? '', /records wait in memory/)
})

test('a directory of somebody else is not taken over', () => {
  const root = scratchDir()
  open(root).spool.close()
  const { spool } = open(root)
  writeFileSync(join(root, 'notes.txt'), 'mine')
  spool.look(Date.now())
  assert.ok(existsSync(join(root, 'notes.txt')))
})
