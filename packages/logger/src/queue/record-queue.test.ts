import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { recordEnv } from '../record/record-env.js'
import { assertIdentity, closeWhole, sampleExchange, until } from '../testing.js'
import { newSpoolCount, RecordQueue, type RecordQueueOptions } from './record-queue.js'
import type { WriterProgram } from './writer-thread.js'

/** A writer that answers every batch, unless `misbehave` overrides that with code that sees `life` and the message. */
function program(misbehave: string): WriterProgram {
  const code = `
    import { parentPort, workerData } from 'node:worker_threads'
    const life = Atomics.add(new Int32Array(workerData), 0, 1)
    parentPort.on('message', (message) => {
      ${misbehave}
      if (message.kind === 'close') return parentPort.close()
      if (message.kind === 'lost') return
      const { records, length } = message
      const change = { adopted: 0, takeovers: [], owner: '', indexed: records, dead: 0, deadRemoved: 0, dropped: 0, onDisk: 0, inMemory: 0 }
      parentPort.postMessage({ kind: 'receipt', records, length, ...change, reason: '', problem: '', buffer: null })
    })`
  const entry = new URL(`data:text/javascript,${encodeURIComponent(code)}`)
  return { entry, options: new SharedArrayBuffer(4) }
}

function open(t: TestContext, writer: WriterProgram, changes: Partial<RecordQueueOptions> = {}) {
  const problems: string[] = []
  const sink = new RecordQueue({
    env: recordEnv({ fields: 'standard', worker: 0, node: 'n', version: '1', configDigest: () => 'abc' }),
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

test('when the thread dies, what it held counts as lost and another thread goes on', async (t) => {
  // The thread sends no receipts and ends with the last batch. If it ended earlier, batches not sent yet would survive.
  const dying = `if (life === 0) {
    globalThis.held = (globalThis.held ?? 0) + message.records
    if (held === 700) throw new Error("out of luck")
    return
  }`
  const { sink, problems } = open(t, program(dying))
  recordMany(sink, 700)
  await until(() => sink.identity().droppedBy['writer_lost'] === 700, 'the loss is counted')
  assertIdentity(sink.identity())
  assert.match(problems[0] ?? '', /700 records lost: the writer of the traffic log ended: out of luck/)
  recordMany(sink, 300)
  assert.equal(sink.identity().inMemory, 300)
  await until(() => sink.identity().indexed === 300, 'the second thread writes')
  assertIdentity(sink.identity())
})

test('a thread that throws a value other than an Error is restarted', async (t) => {
  const { sink, problems } = open(t, program('if (life === 0) throw null'))
  recordMany(sink, 1)
  await until(() => sink.identity().dropped === 1, 'the loss is counted')
  assert.match(problems[0] ?? '', /it threw a value that is not an Error/)
  recordMany(sink, 1)
  await until(() => sink.identity().indexed === 1, 'the second thread writes')
})

test('slowly arriving records take little more memory than their size while the thread hangs', async (t) => {
  const hung = program('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)')
  const { sink } = open(t, hung)
  const before = process.memoryUsage().arrayBuffers
  for (let i = 1; i <= 100; i++) {
    sink.record(sampleExchange())
    await until(() => sink.identity().inMemory === i, 'it is held')
    await new Promise((resolve) => setTimeout(resolve, 3))
  }
  const taken = process.memoryUsage().arrayBuffers - before
  assert.ok(taken < 1_000_000, `${taken} bytes for 100 records`)
})

test('a thread that exits is restarted', async (t) => {
  const { sink, problems } = open(t, program('if (life === 0) process.exit(0)'))
  recordMany(sink, 1)
  await until(() => sink.identity().dropped === 1, 'the loss is counted')
  assert.match(problems[0] ?? '', /it exited unexpectedly/)
  recordMany(sink, 1)
  await until(() => sink.identity().indexed === 1, 'the second thread writes')
})

test('a thread that always fails is started at most once per second', async (t) => {
  const writer = program('process.exit(1)')
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
  assert.ok(inMemory > 50 && inMemory < 200, `${inMemory} held`)
  assert.equal(droppedBy['queue_full'], 2000 - inMemory)
  await sink.close(2000)
  assertIdentity(sink.identity())
  assert.equal(sink.identity().inMemory, 0)
})

test('a thread that hangs fills the queue, never more', async (t) => {
  const { sink } = open(t, program('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'), {
    queueBytes: 100_000,
  })
  for (let burst = 0; burst < 20; burst++) {
    recordMany(sink, 100)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { inMemory, droppedBy } = sink.identity()
  assert.ok(inMemory * 400 < 100_400, `${inMemory} held`)
  assert.equal(droppedBy['queue_full'], 2000 - inMemory)
})

test('closing gives up at the deadline and counts what is left', async (t) => {
  const { sink, problems } = open(t, program('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'))
  recordMany(sink, 10)
  const startMono = performance.now()
  await sink.close(50)
  assert.ok(performance.now() - startMono >= 45)
  assert.deepEqual(sink.identity().droppedBy, { close_deadline: 10 })
  assertIdentity(sink.identity())
  assert.match(problems.at(-1) ?? '', /10 records lost: not written within 50 ms of closing/)
})

test('a thread that dies while it is closed ends the wait at once', async (t) => {
  const { sink } = open(t, program('if (message.kind === "close") throw new Error("fsync failed")'))
  recordMany(sink, 10)
  await sink.close(60_000)
  assert.equal(sink.identity().indexed, 10)
})

test('closing right after a crash starts one more thread for what is held', async (t) => {
  const { sink } = open(t, program('if (life === 0) process.exit(1)'))
  recordMany(sink, 5)
  await until(() => sink.identity().dropped === 5, 'the loss is counted')
  recordMany(sink, 20)
  await sink.close(10_000)
  assert.deepEqual(
    { ...sink.identity(), droppedBy: {} },
    {
      ...{
        received: 25,
        indexed: 20,
        dead: 0,
        deadRemoved: 0,
        dropped: 5,
        droppedBy: {},
        onDisk: 0,
        inMemory: 0,
        lagMs: 0,
      },
    },
  )
})

test('closing twice waits for the same end', async (t) => {
  const { sink, problems } = open(t, program(''))
  recordMany(sink, 3)
  await Promise.all([sink.close(10_000), sink.close(10_000)])
  assert.equal(sink.identity().indexed, 3)
  assert.deepEqual(problems, [])
})

test('the number of records is saved before they are sent, and retried until it is saved', async (t) => {
  const noted: number[] = []
  const spool = {
    count: newSpoolCount(),
    owner: null,
    note: (encoded: number) => noted.push(encoded) > 2,
    close: () => {},
  }
  // The thread processes nothing, so only the sink can save the number.
  const { sink } = open(t, program('if (message.kind !== "close") return'), { spool })
  recordMany(sink, 7)
  await until(() => noted.length === 3, 'it is asked for until it is there')
  assert.deepEqual(noted, [7, 7, 7])
  recordMany(sink, 2)
  await until(() => noted.length === 4, 'the next are noted')
  assert.equal(noted[3], 9)
})
