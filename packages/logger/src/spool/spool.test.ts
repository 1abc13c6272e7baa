import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { steadyMs } from '../lib/steady-clock.js'
import { scratchDir } from '../testing.js'
import { lockPath } from './lock.js'
import { Mark } from './mark.js'
import type { Spool } from './spool.js'
import { GONE, kill, now, openSpool, put, relock } from './testing/open-spool.js'

function recordsIn(spool: Spool): number {
  let records = 0
  for (let segment = spool.take(); segment !== null; segment = spool.take()) {
    records += segment.read().records
    spool.settle(segment)
  }
  return records
}

test('records are on disk before they are shipped and deleted afterwards', () => {
  const root = scratchDir()
  const { spool, ledger, options } = openSpool(root)
  put(spool, 10)
  assert.deepEqual(readdirSync(join(root, options.owner)), ['000000000000000.open', 'mark'])
  assert.equal(ledger.account.onDisk, 10)
  spool.sealOpen()
  assert.deepEqual(readdirSync(join(root, options.owner)), ['000000000000000-10.seg', 'mark'])
  assert.equal(recordsIn(spool), 10)
  spool.close()
  assert.deepEqual(readdirSync(root), [])
})

test('records wait in memory if writing would use the disk space to keep free', () => {
  const root = scratchDir()
  const { spool, ledger } = openSpool(root, { minFreeBytes: Number.MAX_SAFE_INTEGER })
  put(spool, 10)
  spool.sealOpen()
  assert.deepEqual([ledger.account.onDisk, ledger.account.inMemory], [0, 10])
  assert.match(
    ledger.problems.join(),
    /records wait in memory: \d+ MB are free, less than spool.minFreeBytes/,
  )
  assert.equal(recordsIn(spool), 10)
  const enough = openSpool(root, { minFreeBytes: 1 })
  put(enough.spool, 10)
  assert.equal(enough.ledger.account.onDisk, 10)
})

test('the spool of a killed owner is taken over, and its lost records are counted', () => {
  const root = scratchDir()
  const dead = openSpool(root, { encoded: () => 17 })
  put(dead.spool, 10)
  kill(root, dead.options.owner)
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.deepEqual(
    { ...ledger.account, reasons: ledger.reasons },
    { received: 17, indexed: 0, dead: 0, dropped: 7, onDisk: 10, inMemory: 0, reasons: ['process_lost'] },
  )
  assert.equal(recordsIn(spool), 10)
  spool.close()
  assert.deepEqual(readdirSync(root), [])
})

test('a living owner is left alone, and only one of two adopters succeeds', () => {
  const root = scratchDir()
  const dead = openSpool(root)
  put(dead.spool, 10)
  const adopters = [openSpool(root), openSpool(root)]
  for (const { spool } of adopters) spool.maintain(now())
  assert.deepEqual(
    adopters.map(({ ledger }) => ledger.account.received),
    [0, 0],
  )
  kill(root, dead.options.owner)
  for (const { spool } of adopters) spool.maintain(now())
  assert.deepEqual(
    adopters.map(({ ledger }) => ledger.account.received),
    [10, 0],
  )
})

test('the spools of a killed adopter are taken over, and record IDs stay the same', () => {
  const root = scratchDir()
  const first = openSpool(root)
  put(first.spool, 3)
  kill(root, first.options.owner)
  const second = openSpool(root)
  second.spool.maintain(now())
  kill(root, second.options.owner)
  const third = openSpool(root)
  third.spool.maintain(now())
  assert.equal(third.ledger.account.onDisk, 3)
  assert.equal(third.spool.take()?.location.prefix, first.options.owner)
})

test('one adopter takes over everything of an owner, with the names of all whose records it had', () => {
  const root = scratchDir()
  const first = [openSpool(root), openSpool(root)]
  for (const { spool, options } of first) {
    put(spool, 3)
    kill(root, options.owner)
  }
  const second = openSpool(root)
  put(second.spool, 4)
  second.spool.maintain(now())
  // Everything that one of them had is delivered. Its directory is empty.
  const settled = second.spool.take()!
  second.spool.settle(settled)
  const { owner } = second.options
  kill(root, owner)
  const adopters = [openSpool(root), openSpool(root)]
  for (const { spool } of adopters) spool.maintain(now())
  assert.deepEqual(
    adopters.map(({ ledger }) => ledger.account.onDisk),
    [7, 0],
  )
  const [{ from } = { from: [] }, ...others] = adopters[0]!.ledger.takeovers
  assert.deepEqual([...from].sort(), [owner, ...first.map(({ options }) => options.owner)].sort())
  assert.deepEqual(others, [])
  // The empty directory is deleted with the next check.
  adopters[0]!.spool.maintain(now())
  assert.deepEqual(
    readdirSync(join(root, adopters[0]!.options.owner)).includes(settled.location.prefix),
    false,
  )
})

test('a directory that an earlier version has taken over is taken over', () => {
  const root = scratchDir()
  const [first, second] = [openSpool(root), openSpool(root)]
  put(first.spool, 3)
  renameSync(join(root, first.options.owner), join(root, `${first.options.owner}~${second.options.owner}`))
  kill(root, first.options.owner)
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.equal(ledger.account.onDisk, 0)
  kill(root, second.options.owner)
  spool.maintain(now())
  assert.equal(ledger.account.onDisk, 3)
  assert.equal(spool.take()?.location.prefix, first.options.owner)
})

test('the age of the oldest record is known until it is settled, and outlives its owner', () => {
  const root = scratchDir()
  const first = openSpool(root)
  assert.equal(first.spool.oldestMono, null)
  const before = steadyMs()
  put(first.spool, 3)
  const first3 = first.spool.oldestMono!
  assert.ok(first3 >= before && first3 <= steadyMs())
  first.spool.sealOpen()
  const [file] = readdirSync(join(root, first.options.owner)).filter((name) => name.endsWith('.seg'))
  const writtenAt = Date.now() / 1000 - 3600
  utimesSync(join(root, first.options.owner, file!), writtenAt, writtenAt)
  kill(root, first.options.owner)
  const second = openSpool(root)
  put(second.spool, 1)
  second.spool.maintain(now())
  const ageMs = steadyMs() - second.spool.oldestMono!
  assert.ok(ageMs > 3_599_000 && ageMs < 3_700_000, `${ageMs}`)
  second.spool.settle(second.spool.take()!)
  assert.ok(second.spool.oldestMono! >= before)
  second.spool.sealOpen()
  second.spool.settle(second.spool.take()!)
  assert.equal(second.spool.oldestMono, null)
})

test('a file of an earlier process that was written in the future is as old as it is known', () => {
  const root = scratchDir()
  const first = openSpool(root)
  put(first.spool, 3)
  first.spool.sealOpen()
  const [file] = readdirSync(join(root, first.options.owner)).filter((name) => name.endsWith('.seg'))
  const inAnHour = Date.now() / 1000 + 3600
  utimesSync(join(root, first.options.owner, file!), inAnHour, inAnHour)
  kill(root, first.options.owner)
  const second = openSpool(root)
  second.spool.maintain(now())
  assert.ok(second.spool.oldestMono! <= steadyMs())
})

for (const stepMs of [3_600_000, -3_600_000]) {
  test(`a clock change of ${stepMs} ms does not make living owners look dead`, () => {
    const root = scratchDir()
    const [one, two] = [openSpool(root), openSpool(root)]
    put(one.spool, 3)
    one.spool.sealOpen()
    const start = now()
    const at = (ms: number, step: number) => ({ wallMs: start.wallMs + ms + step, mono: start.mono + ms })
    for (const { spool } of [one, two]) spool.maintain(at(0, 0))
    // The first check after the clock change finds only heartbeats from before it.
    for (const ms of [2000, 4000, 6000]) for (const { spool } of [two, one]) spool.maintain(at(ms, stepMs))
    assert.equal(two.ledger.account.received, 0)
    assert.equal(one.spool.take()?.records, 3)
  })
}

for (const { who, lock } of [
  { who: 'of another machine', lock: { host: 'another' } },
  { who: 'whose processes cannot be seen from here', lock: { pid: GONE, namespace: 'pid:[1]' } },
]) {
  test(`an owner ${who} is taken for dead only after a long silence`, () => {
    const root = scratchDir()
    const far = openSpool(root)
    put(far.spool, 1)
    relock(root, far.options.owner, lock)
    const { spool, ledger } = openSpool(root)
    spool.maintain(now())
    assert.equal(ledger.account.received, 0)
    utimesSync(lockPath(root, far.options.owner), 0, 0)
    spool.maintain(now())
    assert.equal(ledger.account.received, 1)
  })
}

test('a torn end is cut off, and the records of its block are counted', () => {
  const root = scratchDir()
  const dead = openSpool(root)
  put(dead.spool, 10)
  put(dead.spool, 5)
  const file = join(root, dead.options.owner, '000000000000000.open')
  truncateSync(file, readFileSync(file).length - 5)
  kill(root, dead.options.owner)
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.deepEqual([ledger.account.onDisk, ledger.account.dropped, ledger.reasons], [10, 5, ['corrupt']])
  assert.equal(recordsIn(spool), 10)
})

test('torn records are counted from their header if the mark is gone', () => {
  const root = scratchDir()
  const dead = openSpool(root)
  put(dead.spool, 10)
  put(dead.spool, 5)
  const dir = join(root, dead.options.owner)
  truncateSync(join(dir, '000000000000000.open'), readFileSync(join(dir, '000000000000000.open')).length - 5)
  rmSync(join(dir, 'mark'))
  kill(root, dead.options.owner)
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.deepEqual([ledger.account.onDisk, ledger.account.dropped, ledger.reasons], [10, 5, ['corrupt']])
})

test('a block that is damaged between others is skipped, and its records are missing in the content', () => {
  const root = scratchDir()
  const dead = openSpool(root)
  for (const records of [10, 5, 3]) put(dead.spool, records)
  const file = join(root, dead.options.owner, '000000000000000.open')
  const bytes = readFileSync(file)
  bytes[bytes.indexOf('"n":4', bytes.indexOf('"n":9'))]! ^= 1
  writeFileSync(file, bytes)
  kill(root, dead.options.owner)
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.deepEqual([ledger.account.onDisk, ledger.account.dropped], [18, 0])
  const segment = spool.take()!
  assert.deepEqual([segment.records, segment.read().records], [18, 13])
  assert.match(segment.read().shipmentOf([10], true).idOf(0), /-f$/)
})

for (const isWhole of [true, false]) {
  test(`a batch that was being written when its process was killed counts once, whole: ${isWhole}`, () => {
    const root = scratchDir()
    const dead = openSpool(root)
    put(dead.spool, 10)
    put(dead.spool, 5)
    // The progress saved before the second batch.
    const mark = new Mark(join(root, dead.options.owner), true)
    mark.set({ encoded: 15, safe: 10, openFirst: 0, openRecords: 10 })
    mark.close()
    const file = join(root, dead.options.owner, '000000000000000.open')
    if (!isWhole) truncateSync(file, readFileSync(file).length - 5)
    kill(root, dead.options.owner)
    const { spool, ledger } = openSpool(root)
    spool.maintain(now())
    const { received, onDisk, dropped } = ledger.account
    assert.deepEqual([received, onDisk, dropped], isWhole ? [15, 15, 0] : [15, 10, 5])
    assert.deepEqual(ledger.reasons, isWhole ? [] : ['process_lost'])
  })
}

test('an empty file is not a loss', () => {
  const root = scratchDir()
  const dead = openSpool(root)
  put(dead.spool, 10)
  dead.spool.sealOpen()
  writeFileSync(join(root, dead.options.owner, '000000000008192.open'), '')
  kill(root, dead.options.owner)
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.deepEqual([ledger.account.onDisk, ledger.account.dropped], [10, 0])
})

test('records in memory only count as lost when the process is killed', () => {
  const root = scratchDir()
  const dead = openSpool(root, { minFreeBytes: Number.MAX_SAFE_INTEGER })
  put(dead.spool, 10)
  assert.equal(dead.ledger.account.inMemory, 10)
  kill(root, dead.options.owner)
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.deepEqual(
    [ledger.account.received, ledger.account.dropped, ledger.reasons],
    [10, 10, ['process_lost']],
  )
})

test('records that were not appended count as lost, whatever is on disk', () => {
  const root = scratchDir()
  let encoded = 100
  const dead = openSpool(root, { encoded: () => encoded })
  put(dead.spool, 100)
  dead.spool.sealOpen()
  // No segment is open on disk meanwhile.
  encoded = 140
  dead.spool.mark()
  kill(root, dead.options.owner)
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.deepEqual([ledger.account.onDisk, ledger.account.dropped], [100, 40])
})

test('at the size limit, the oldest records are dropped and counted', () => {
  const { spool, ledger } = openSpool(scratchDir(), { maxBytes: 100_000 })
  for (let i = 0; i < 20; i++) {
    put(spool, 100)
    spool.sealOpen()
    assert.ok(spool.diskBytes <= 100_000, `${spool.diskBytes} bytes`)
  }
  assert.equal(ledger.account.received, 2000)
  assert.equal(ledger.account.dropped, 2000 - ledger.account.onDisk)
  assert.deepEqual([...new Set(ledger.reasons)], ['spool_full'])
  assert.equal(recordsIn(spool), ledger.account.onDisk)
})

test('at the size limit, the newest records are dropped with drop-newest', () => {
  const { spool, ledger } = openSpool(scratchDir(), { maxBytes: 100_000, whenFull: 'drop-newest' })
  for (let i = 0; i < 20; i++) put(spool, 100)
  spool.sealOpen()
  assert.equal(spool.take()?.location.first, 0)
  assert.equal(ledger.account.received, 2000)
  assert.ok(ledger.account.dropped > 1000)
})

test('records wait in memory up to a limit if the directory cannot be created', () => {
  const root = scratchDir()
  const { spool, ledger, options } = openSpool(root)
  // A file where the directory should be: root cannot write there either.
  rmSync(join(root, options.owner), { recursive: true })
  writeFileSync(join(root, options.owner), '')
  for (let i = 0; i < 2000; i++) put(spool, 100)
  const { received, inMemory, dropped, onDisk } = ledger.account
  assert.deepEqual([received, onDisk], [200_000, 0])
  assert.ok(inMemory > 90_000 && inMemory < 180_000, `${inMemory} kept`)
  assert.equal(dropped, received - inMemory)
  assert.deepEqual([...new Set(ledger.reasons)], ['disk_full'])
  assert.match(ledger.problems[0] ?? '', /records wait in memory/)
})

test('an unrelated directory is not taken over', () => {
  const root = scratchDir()
  openSpool(root).spool.close()
  const { spool } = openSpool(root)
  writeFileSync(join(root, 'notes.txt'), 'mine')
  spool.maintain(now())
  assert.ok(existsSync(join(root, 'notes.txt')))
})

test('an adopter keeps inherited records beyond its own share', () => {
  const root = scratchDir()
  const share = { maxBytes: 400_000, shareBytes: 100_000 }
  for (let i = 0; i < 3; i++) {
    const dead = openSpool(root, share)
    for (let batch = 0; batch < 8; batch++) {
      put(dead.spool, 80)
      dead.spool.sealOpen()
    }
    kill(root, dead.options.owner)
  }
  const { spool, ledger } = openSpool(root, share)
  spool.maintain(now())
  put(spool, 80)
  assert.deepEqual([ledger.account.onDisk, ledger.account.dropped], [3 * 640 + 80, 0])
  for (let batch = 0; batch < 20; batch++) {
    put(spool, 80)
    spool.sealOpen()
  }
  assert.ok(ledger.account.dropped > 0)
  assert.ok(spool.diskBytes <= share.maxBytes && spool.diskBytes > 300_000, `${spool.diskBytes} bytes`)
})

test('an owner without room beyond its share drops records down to its share', () => {
  const root = scratchDir()
  const share = { maxBytes: 200_000, shareBytes: 100_000 }
  const other = openSpool(root, share)
  put(other.spool, 800)
  for (const { whenFull, least } of [
    { whenFull: 'drop-oldest', least: 80_000 },
    { whenFull: 'drop-newest', least: 80_000 },
  ] as const) {
    const { spool } = openSpool(root, { ...share, whenFull })
    for (let batch = 0; batch < 20; batch++) {
      put(spool, 80)
      spool.sealOpen()
    }
    assert.ok(spool.diskBytes >= least && spool.diskBytes <= 110_000, `${spool.diskBytes} bytes, ${whenFull}`)
    recordsIn(spool)
  }
})

test('an owner recreates its deleted lock and keeps its directory', () => {
  const root = scratchDir()
  const owner = openSpool(root)
  put(owner.spool, 1)
  rmSync(lockPath(root, owner.options.owner))
  owner.spool.maintain(now())
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.equal(ledger.account.received, 0)
  assert.deepEqual(owner.ledger.problems, [])
})

test('a file that cannot be taken over does not hide the others', () => {
  const root = scratchDir()
  const dead = openSpool(root)
  put(dead.spool, 10)
  // A directory in place of a file cannot be read, not even by root.
  mkdirSync(join(root, dead.options.owner, '000000000099999.open'))
  kill(root, dead.options.owner)
  const { spool, ledger } = openSpool(root)
  spool.maintain(now())
  assert.equal(ledger.account.onDisk, 10)
  assert.match(ledger.problems[0] ?? '', /000000000099999\.open/)
})

test('the lock of an owner with a deleted directory is removed', () => {
  const root = scratchDir()
  const dead = openSpool(root)
  rmSync(join(root, dead.options.owner), { recursive: true })
  kill(root, dead.options.owner)
  const { spool } = openSpool(root)
  spool.maintain(now())
  spool.close()
  assert.deepEqual(readdirSync(root), [])
})

test('with a full disk at the start, records wait in memory until writing works', () => {
  const root = join(scratchDir(), 'full')
  const { spool, ledger } = openSpool(root)
  put(spool, 10)
  spool.maintain(now())
  assert.equal(ledger.account.inMemory, 10)
  assert.match(ledger.problems[0] ?? '', /cannot write to the spool, records wait in memory/)
  mkdirSync(root)
  spool.maintain(now())
  spool.sealOpen()
  put(spool, 5)
  assert.deepEqual([ledger.account.inMemory, ledger.account.onDisk], [10, 5])
  spool.sealOpen()
  assert.equal(recordsIn(spool), 15)
  spool.close()
  assert.deepEqual(readdirSync(root), [])
})
