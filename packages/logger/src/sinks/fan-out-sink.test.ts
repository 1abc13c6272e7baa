import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Capture, EMPTY_LOG, type Exchange } from '@sluice/core'
import { RecordEncoders } from '../queue/record-encoder.js'
import { RecordQueue } from '../queue/record-queue.js'
import {
  assertIdentity,
  captureRules,
  closeWhole,
  sampleExchange,
  scratchDir,
  segmentLines,
  until,
} from '../testing.js'
import { FanOutSink, type Outlet } from './fan-out-sink.js'
import { type FileSinkOptions, openFileSink } from './file-sink.js'

const MIB = 1024 ** 2
const configDigest = (): string => ''

interface Wish extends Partial<FileSinkOptions> {
  readonly wants?: Outlet['wants']
}

function fileOutlet(root: string, id: string, { wants = null, ...changes }: Wish): Outlet {
  const sink = openFileSink({
    ...{ dir: join(root, id), maxBytes: 8 * MIB, segmentBytes: MIB, worker: 0, version: '1' },
    ...{ fields: 'minimal', queueBytes: MIB, configDigest },
    ...changes,
  })
  return { id, sink, wants }
}

/** Counts how often the exchange is written to a record. */
function countWrites(x: Exchange): () => number {
  let writes = 0
  const { endedMono } = x
  Object.defineProperty(x, 'endedMono', {
    get: () => {
      writes++
      return endedMono
    },
  })
  return () => writes
}

/** Returns an exchange with a captured body that takes 6 KB in a record. */
function exchangeWithBody(): Exchange {
  const x = sampleExchange({ contentLength: -1 })
  x.record.capture = new Capture(captureRules({ requestIn: { headers: true, body: true } }), x)
  x.record.capture.onRequestChunk(Buffer.alloc(1024, 1))
  return x
}

test('each target gets the records that it wants, with as many fields as it wants', async () => {
  const root = scratchDir()
  const log = new FanOutSink([
    fileOutlet(root, 'all', {}),
    fileOutlet(root, 'errors', { fields: 'standard', wants: (x) => x.status >= 500 }),
  ])
  await log.opened
  for (const status of [200, 503, 404, 500]) {
    log.record(sampleExchange({ status }))
    assertIdentity(log.identity())
  }
  await log.close(5000)
  const statuses = (id: string) => segmentLines(join(root, id)).map((line) => JSON.parse(line).res.status)
  assert.deepEqual(statuses('all'), [200, 503, 404, 500])
  assert.deepEqual(statuses('errors'), [503, 500])
  assert.ok('gw' in JSON.parse(segmentLines(join(root, 'errors'))[0]!))
  const identity = log.identity()
  assertIdentity(identity)
  assert.deepEqual(identity, {
    ...{ ...EMPTY_LOG, received: 6, indexed: 6 },
    targets: {
      all: { ...EMPTY_LOG, received: 4, indexed: 4 },
      errors: { ...EMPTY_LOG, received: 2, indexed: 2 },
    },
  })
})

test('a full target loses only its own records', async () => {
  const root = scratchDir()
  const log = new FanOutSink([fileOutlet(root, 'narrow', { queueBytes: 1 }), fileOutlet(root, 'wide', {})])
  for (let i = 0; i < 50; i++) log.record(sampleExchange())
  await log.close(5000)
  const { targets, dropped, droppedBy } = log.identity()
  assertIdentity(log.identity())
  assert.equal(targets!['wide']!.indexed, 50)
  assert.equal(targets!['narrow']!.indexed + targets!['narrow']!.dropped, 50)
  assert.ok(targets!['narrow']!.dropped > 0)
  assert.deepEqual(droppedBy, { queue_full: dropped })
})

test('a record is written once for all targets with the same options', async () => {
  const root = scratchDir()
  const encoders = new RecordEncoders()
  const never = fileOutlet(root, 'never', { encoders, fields: 'full', wants: () => false })
  const log = new FanOutSink([
    fileOutlet(root, 'a', { encoders, capture: null }),
    fileOutlet(root, 'b', { encoders }),
    fileOutlet(root, 'late', { encoders, wants: (x) => x.status === 503 }),
    never,
  ])
  for (const status of [200, 503, 404]) {
    const x = sampleExchange({ status })
    const writes = countWrites(x)
    log.record(x)
    assert.equal(writes(), 1)
  }
  const unwanted = sampleExchange()
  const writes = countWrites(unwanted)
  new FanOutSink([never]).record(unwanted)
  assert.equal(writes(), 0)
  await closeWhole(log, 5000)
  const [a, b, late] = ['a', 'b', 'late'].map((id) => segmentLines(join(root, id)))
  assert.equal(a!.length, 3)
  assert.deepEqual(b, a)
  assert.deepEqual(late, [a![1]])
})

test('targets with other fields or another capture get records of their own', async () => {
  const root = scratchDir()
  const encoders = new RecordEncoders()
  const capture = captureRules({ requestIn: { headers: true, body: false } })
  const log = new FanOutSink([
    fileOutlet(root, 'all', { encoders }),
    fileOutlet(root, 'headers', { encoders, capture }),
    fileOutlet(root, 'same', { encoders, capture: { ...capture } }),
    fileOutlet(root, 'standard', { encoders, fields: 'standard' }),
  ])
  const x = exchangeWithBody()
  const writes = countWrites(x)
  log.record(x)
  assert.equal(writes(), 3)
  await closeWhole(log, 5000)
  const record = (id: string) => JSON.parse(segmentLines(join(root, id))[0]!)
  assert.equal(record('all').body.req_in.bytes, 1024)
  assert.equal(record('headers').body, undefined)
  assert.deepEqual(record('same'), record('headers'))
  assert.ok('gw' in record('standard') && !('gw' in record('all')))
})

test('only targets for which a record is too large get it without its bodies', async () => {
  const root = scratchDir()
  const encoders = new RecordEncoders()
  const small = { encoders, writers: 1, segmentBytes: 4096 }
  const log = new FanOutSink([
    fileOutlet(root, 'small', small),
    fileOutlet(root, 'large', { encoders }),
    fileOutlet(root, 'small too', small),
    fileOutlet(root, 'large too', { encoders }),
    fileOutlet(root, 'tiny', { ...small, segmentBytes: 100 }),
  ])
  const x = exchangeWithBody()
  const writes = countWrites(x)
  log.record(x)
  assert.equal(writes(), 2)
  log.record(sampleExchange())
  await closeWhole(log, 5000)
  const bodies = (id: string) => segmentLines(join(root, id)).map((line) => 'body' in JSON.parse(line))
  assert.deepEqual(bodies('small'), [false, false])
  assert.deepEqual(bodies('small too'), [false, false])
  assert.deepEqual(bodies('large'), [true, false])
  assert.deepEqual(bodies('large too'), [true, false])
  assert.deepEqual(log.identity().droppedBy, { too_large: 2 })
})

test('a record that cannot be written counts as lost for each target', async () => {
  const root = scratchDir()
  const encoders = new RecordEncoders()
  const log = new FanOutSink(['a', 'b'].map((id) => fileOutlet(root, id, { encoders })))
  const x = sampleExchange()
  Object.defineProperty(x, 'result', {
    get: () => {
      throw new Error('no result')
    },
  })
  for (const one of [sampleExchange(), x, sampleExchange()]) log.record(one)
  await closeWhole(log, 5000)
  for (const { indexed, droppedBy } of Object.values(log.identity().targets!))
    assert.deepEqual([indexed, droppedBy], [2, { not_encodable: 1 }])
})

const FILE_THREAD = new URL('../writer/thread.js', import.meta.url).href
const STALLS = `Atomics.wait(new Int32Array(workerData.options.gate), 0, 0); await import('${FILE_THREAD}')`
const ENDS = `if (Atomics.load(new Int32Array(workerData.options.gate), 0) === 0) process.exit(1)
  await import('${FILE_THREAD}')`

/** A file target and one whose thread writes nothing before `release`. They share an encoder. */
function openWithStalled(thread: string, queueBytes: number) {
  const root = scratchDir()
  const good = fileOutlet(root, 'good', { fields: 'standard', queueBytes: 8 * MIB, maxBytes: 64 * MIB })
  const gate = new SharedArrayBuffer(4)
  const code = `import { workerData } from 'node:worker_threads'; ${thread}`
  const sink = new RecordQueue({
    encoder: good.sink.encoder,
    program: {
      entry: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
      options: {
        ...{ dir: join(root, 'stalled'), maxBytes: 64 * MIB, segmentBytes: MIB, worker: 0, gate },
        preparation: { privacy: null, geo: null },
      },
    },
    ...{ queueBytes, flushMs: 1, maxRecordBytes: MIB, onProblem: () => {}, spool: null },
  })
  const release = (): void => {
    Atomics.store(new Int32Array(gate), 0, 1)
    Atomics.notify(new Int32Array(gate), 0)
  }
  const log = new FanOutSink([{ id: 'stalled', sink, wants: null }, good])
  const target = (id: string) => log.identity().targets![id]!
  /** Returns how often texts were replaced. */
  const generation = () => new Uint32Array(good.sink.encoder.texts.buffer)[0]!
  return { log, release, target, generation, lines: (id: string) => segmentLines(join(root, id)) }
}

test('a target whose thread stalls or ends loses only its own records', async () => {
  for (const thread of [STALLS, ENDS]) {
    const { log, release, target, lines } = openWithStalled(thread, 20_000)
    for (let i = 0; i < 1000; i++) {
      log.record(sampleExchange({ id: `r-${i}` }))
      assertIdentity(log.identity())
    }
    await until(() => target('good').indexed === 1000, 'the other target has all')
    const { inMemory, dropped, droppedBy } = target('stalled')
    assert.ok(inMemory > 0 && dropped > 0)
    assert.equal(inMemory + dropped, 1000)
    assert.deepEqual(droppedBy, { queue_full: dropped })
    release()
    await until(() => target('stalled').indexed === inMemory, 'it catches up')
    await closeWhole(log, 10_000)
    assert.deepEqual(lines('stalled'), lines('good').slice(0, inMemory))
    assert.equal(target('good').dropped, 0)
  }
})

test('records keep their texts while a target stalls, and the texts are replaced afterwards', async () => {
  const { log, release, target, generation, lines } = openWithStalled(STALLS, 8 * MIB)
  let sent = 0
  const agents: string[] = []
  /** Sends records with more texts than the shared memory has room for. */
  const fill = async (): Promise<void> => {
    for (let i = 0; i < 1500; i++) {
      const agent = `agent-${sent++} ${'x'.repeat(500)}`
      agents.push(agent)
      log.record(sampleExchange({ headers: ['user-agent', agent] }))
      if (i % 300 === 0) await until(() => target('good').inMemory === 0, 'the other target has all')
    }
  }
  await fill()
  assert.equal(target('stalled').inMemory, 1500)
  // The second half was empty.
  assert.equal(generation(), 1)
  release()
  await until(() => target('stalled').inMemory === 0, 'it catches up')
  await fill()
  assert.ok(generation() > 1)
  await closeWhole(log, 10_000)
  assert.deepEqual(
    lines('good').map((line) => JSON.parse(line).ua),
    agents,
  )
  assert.deepEqual(lines('stalled'), lines('good'))
})
