import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { RecordOptions } from '../record/record-env.js'
import { assertIdentity, closeWhole, sampleExchange, until } from '../testing.js'
import { RecordEncoder } from './record-encoder.js'
import { newSpoolCount, RecordQueue, type RecordQueueOptions } from './record-queue.js'
import type { WriterProgram } from './writer-thread.js'

const FEED = new URL('./record-feed.js', import.meta.url).href

interface Misbehaviour {
  /** Code that runs before the thread reads records. It sees `life`, the number of threads before. */
  readonly start?: string
  /** Code that runs before lines count as written. It sees `records`, too. */
  readonly lines?: string
  readonly close?: string
}

/** A log thread that counts all records as written. */
const UNWATCHED = {
  ...{ count: newSpoolCount(), owner: null, keep: () => {} },
  ...{ threadLost: () => {}, threadBegan: () => {}, close: () => {} },
}

function program({ start = '', lines = '', close = '' }: Misbehaviour): WriterProgram {
  const code = `
    import { parentPort, workerData } from 'node:worker_threads'
    const life = Atomics.add(new Int32Array(workerData.options), 0, 1)
    ${start}
    const { RecordFeed } = await import('${FEED}')
    const feed = new RecordFeed(parentPort, workerData)
    feed.start({
      onLines(lines, records) {
        ${lines}
        feed.report({ taken: records, indexed: records })
      },
      onClose() {
        ${close}
        parentPort.close()
      },
    })`
  const entry = new URL(`data:text/javascript,${encodeURIComponent(code)}`)
  return { entry, options: new SharedArrayBuffer(4) }
}

const OPTIONS: RecordOptions = {
  ...{ fields: 'standard', worker: 0, node: 'n', version: '1' },
  configDigest: () => 'abc',
}

const HANGS = program({ start: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)' })

function open(t: TestContext, writer: WriterProgram, changes: Partial<RecordQueueOptions> = {}) {
  const problems: string[] = []
  const sink = new RecordQueue({
    encoder: new RecordEncoder(OPTIONS),
    program: writer,
    ...{ queueBytes: 1_000_000, flushMs: 1, maxRecordBytes: 100_000 },
    onProblem: (message) => problems.push(message),
    spool: null,
    ...changes,
  })
  t.after(() => closeWhole(sink, 100))
  return { sink, problems }
}

function recordMany(sink: RecordQueue, count: number): void {
  for (let i = 0; i < count; i++) {
    sink.record(sampleExchange())
    assertIdentity(sink.identity())
  }
}

test('when the thread ends, the next one writes what waits', async (t) => {
  for (const end of ['throw new Error("out of luck")', 'process.exit(0)', 'throw null']) {
    const { sink, problems } = open(t, program({ lines: `if (life === 0) { ${end} }` }))
    recordMany(sink, 700)
    await until(() => sink.identity().indexed === 700, 'the second thread writes')
    assertIdentity(sink.identity())
    assert.equal(sink.identity().dropped, 0)
    const cause = end.includes('luck') ? /out of luck/ : /it exited unexpectedly|a value that is not an Error/
    assert.match(problems[0] ?? '', cause)
  }
})

test('records that only the ended thread had in memory count as lost', async (t) => {
  const keep =
    'if (life === 0) { feed.report({ taken: records, inMemory: records }); setTimeout(() => process.exit(1)); return }'
  const { sink, problems } = open(t, program({ lines: keep }))
  recordMany(sink, 5)
  await until(() => sink.identity().droppedBy['writer_lost'] === 5, 'the loss is counted')
  assert.match(problems[0] ?? '', /5 records lost: the writer of the traffic log ended/)
  recordMany(sink, 3)
  await until(() => sink.identity().indexed === 3, 'the second thread writes')
  assertIdentity(sink.identity())
})

test('records that an ended thread has reported are not written again', async (t) => {
  const end = 'if (life === 0) { feed.report({ taken: records, indexed: records }); process.exit(1) }'
  const { sink, problems } = open(t, program({ lines: end }))
  recordMany(sink, 5)
  await until(() => problems.length > 0, 'the first thread has ended')
  recordMany(sink, 3)
  await until(() => sink.identity().indexed === 8, 'the second thread writes the others')
  assertIdentity(sink.identity())
})

test('records with which two threads end are discarded', async (t) => {
  const { sink } = open(t, program({ lines: 'if (life < 2) throw new Error("poison")' }))
  recordMany(sink, 5)
  await until(() => sink.identity().droppedBy['writer_lost'] === 5, 'they are discarded')
  recordMany(sink, 3)
  await until(() => sink.identity().indexed === 3, 'the third thread writes')
  assertIdentity(sink.identity())
})

test('a thread that always fails is started at most once per second', async (t) => {
  const writer = program({ start: 'process.exit(1)' })
  const { sink } = open(t, writer)
  const lives = new Int32Array(writer.options as SharedArrayBuffer)
  const startMono = performance.now()
  await until(() => {
    recordMany(sink, 1)
    return Atomics.load(lives, 0) === 3
  }, 'three lives')
  assert.ok(performance.now() - startMono >= 1900)
})

test('while no thread can start, records wait up to the bound, and closing counts them', async (t) => {
  const nowhere = { entry: new URL('data:text/javascript,throw new Error("no")'), options: null }
  const { sink, problems } = open(t, nowhere, { queueBytes: 50_000, flushMs: 20 })
  await until(() => problems.length > 0, 'the failure is reported')
  assert.match(problems[0]!, /the writer of the traffic log ended: no/)
  recordMany(sink, 2000)
  const { inMemory, droppedBy } = sink.identity()
  assert.ok(inMemory > 50 && inMemory < 400, `${inMemory} held`)
  assert.equal(droppedBy['queue_full'], 2000 - inMemory)
  await sink.close(2000)
  assertIdentity(sink.identity())
  assert.equal(sink.identity().inMemory, 0)
})

test('a thread that hangs fills the queue, never more', async (t) => {
  const { sink } = open(t, HANGS, {
    queueBytes: 100_000,
  })
  for (let burst = 0; burst < 20; burst++) {
    recordMany(sink, 100)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { inMemory, droppedBy } = sink.identity()
  assert.ok(inMemory * 150 < 100_150, `${inMemory} held`)
  assert.equal(droppedBy['queue_full'], 2000 - inMemory)
})

test('closing gives up at the deadline and counts what is left', async (t) => {
  const { sink, problems } = open(t, HANGS)
  recordMany(sink, 10)
  const startMono = performance.now()
  await sink.close(50)
  assert.ok(performance.now() - startMono >= 45)
  assert.deepEqual(sink.identity().droppedBy, { close_deadline: 10 })
  assertIdentity(sink.identity())
  assert.match(problems.at(-1) ?? '', /10 records lost: not written within 50 ms of closing/)
})

test('a thread that reacts after the deadline loses nothing if there is more patience', async (t) => {
  const { sink } = open(
    t,
    program({ start: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)' }),
  )
  recordMany(sink, 10)
  await sink.close(50, 600_000)
  const { received, indexed, droppedBy } = sink.identity()
  assert.deepEqual({ received, indexed, droppedBy }, { received: 10, indexed: 10, droppedBy: {} })
})

test('records given up at the deadline are not counted again by the next owner of the spool', async (t) => {
  const calls: string[] = []
  const spool = {
    ...{ ...UNWATCHED, count: newSpoolCount() },
    threadLost: (records: number) => calls.push(`lost ${records}`),
    close: () => calls.push('closed'),
  }
  const { sink } = open(t, HANGS, { spool })
  recordMany(sink, 10)
  await sink.close(50)
  assert.deepEqual(calls, ['lost 10', 'closed'])
})

test('a thread that dies while it is closed ends the wait at once', async (t) => {
  const { sink } = open(t, program({ close: 'throw new Error("fsync failed")' }))
  recordMany(sink, 10)
  await sink.close(60_000)
  assert.equal(sink.identity().indexed, 10)
})

test('closing right after a crash starts one more thread for what is held', async (t) => {
  const { sink, problems } = open(t, program({ start: 'if (life === 0) process.exit(1)' }))
  recordMany(sink, 5)
  await until(() => problems.length === 1, 'the thread has ended')
  recordMany(sink, 20)
  await sink.close(10_000)
  assert.deepEqual(
    { ...sink.identity(), droppedBy: {} },
    {
      ...{
        received: 25,
        indexed: 25,
        dead: 0,
        deadRemoved: 0,
        dropped: 0,
        droppedBy: {},
        onDisk: 0,
        inMemory: 0,
        lagMs: 0,
      },
    },
  )
})

test('closing twice waits for the same end', async (t) => {
  const { sink, problems } = open(t, program({}))
  recordMany(sink, 3)
  await Promise.all([sink.close(10_000), sink.close(10_000)])
  assert.equal(sink.identity().indexed, 3)
  assert.deepEqual(problems, [])
})

test('the number of records is kept, with those announced that have not followed', async (t) => {
  const kept: number[] = []
  const spool = { ...UNWATCHED, keep: (records: number) => kept.push(records) }
  const { sink } = open(t, HANGS, { spool })
  recordMany(sink, 2)
  sink.announce(2)
  recordMany(sink, 1)
  sink.announce(-1)
  sink.announce(1)
  // It is taken back, because another sink gets this record.
  await sink.close(0)
  sink.announce(1)
  assert.deepEqual(kept, [1, 2, 4, 4, 3, 4, 3])
})

/** Reports the takeover of five records by a second owner, delivers three of them, and then runs `end`. */
function takesOver(end: string): WriterProgram {
  return program({
    start: `
      const { RecordFeed: Feed } = await import('${FEED}')
      if (life === 0) {
        const { report } = new Feed(parentPort, workerData)
        report({ owner: 'b' })
        report({ takeovers: [{ from: ['a'], records: 5 }] })
        report({ indexed: 3, onDisk: -3 })
        ${end}
      }`,
  })
}

/** Waits, without receiving any message, until the thread has delivered something. */
function waitWithoutMessages(sink: RecordQueue): void {
  while (sink.identity().indexed === 0);
}

for (const end of ['await new Promise(() => setInterval(() => {}, 1000))', 'process.exit(1)']) {
  test(`a report contains a takeover if it contains its records: ${end}`, (t) => {
    const { sink } = open(t, takesOver(end), {
      spool: UNWATCHED,
    })
    waitWithoutMessages(sink)
    const { received, indexed, onDisk, spools } = sink.identity()
    assert.deepEqual({ received, indexed, onDisk }, { received: 5, indexed: 3, onDisk: 2 })
    assert.deepEqual(spools, { left: { b: 2 }, takeovers: [{ from: ['a'], records: 5 }] })
  })
}

test('a thread that ends after a takeover hands over all records to the next one, which counts none twice', async (t) => {
  const writer = program({
    start: `
      const { RecordFeed: Feed } = await import('${FEED}')
      const { report } = new Feed(parentPort, workerData)
      if (life === 0) {
        report({ owner: 'b' })
        report({ takeovers: [{ from: ['a'], records: 20 }] })
        process.exit(1)
      }
      report({ owner: 'c' })
      report({ takeovers: [{ from: ['b', 'a', 'x'], records: 18 }] })
      report({ onDisk: -3, indexed: 3 })`,
  })
  const { sink } = open(t, writer, {
    spool: UNWATCHED,
  })
  const seen: number[] = []
  await until(() => {
    const { received, indexed } = sink.identity()
    seen.push(received, indexed)
    assertIdentity(sink.identity())
    return indexed === 5
  }, 'the second thread has delivered some')
  const { received, onDisk, spools } = sink.identity()
  assert.deepEqual({ received, onDisk }, { received: 20, onDisk: 15 })
  assert.ok(Math.max(...seen) === 20, `${seen}`)
  // The supervisor may know of records of `x`, which the first thread took over but did not report.
  const takeovers = [
    { from: ['a'], records: 20 },
    { from: ['a', 'x'], records: 0 },
  ]
  assert.deepEqual(spools, { left: { c: 15 }, takeovers })
})
