import assert from 'node:assert/strict'
import fs, { readlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import { mock, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isMainThread, MessageChannel, type MessagePort, Worker, workerData } from 'node:worker_threads'
import { webhookReceiver } from '../outputs/testing/webhook-receiver.js'
import { newLogMemory, type ThreadData } from '../queue/messages.js'
import { newSpoolCount } from '../queue/record-queue.js'
import { RingWriter } from '../queue/ring.js'
import { readCounts } from '../queue/shared-counts.js'
import { RecordWriter } from '../record/record-writer.js'
import { NO_REFERENCE, SharedTexts } from '../record/shared-texts.js'
import { scratchDir, until } from '../testing.js'
import type { ShipperThreadOptions } from './thread.js'

const MIB = 1024 ** 2
const THIS_FILE = fileURLToPath(import.meta.url)

interface TestThreadOptions extends ShipperThreadOptions {
  /** Receives time steps. Reports the synced files, and `null` after each step. */
  readonly clock: MessagePort
}

if (isMainThread) defineTests()
else await serve((workerData as ThreadData<TestThreadOptions>).options.clock)

/** The shipper thread with a fake clock. It reports each `fdatasync`. */
async function serve(clock: MessagePort): Promise<void> {
  const { fdatasyncSync } = fs
  Reflect.set(fs, 'fdatasyncSync', (fd: number) => {
    clock.postMessage(basename(readlinkSync(`/proc/self/fd/${fd}`)))
    fdatasyncSync(fd)
  })
  syncBuiltinESMExports()
  mock.timers.enable({ apis: ['setInterval'] })
  let nowMono = 0
  performance.now = () => nowMono
  await import('./thread.js')
  clock.on('message', (ms: number) => {
    nowMono += ms
    mock.timers.tick(ms)
    clock.postMessage(null)
  })
  clock.unref()
}

const ELASTICSEARCH_AWAY: ShipperThreadOptions['output'] = {
  ...{ kind: 'elasticsearch', nodes: ['http://127.0.0.1:1'], auth: null, caFile: null, insecure: false },
  ...{ compress: false, dataStream: 'logs', retentionDays: null, replicas: 0, manage: false },
}

function webhookTo(url: string): ShipperThreadOptions['output'] {
  return {
    ...{ kind: 'webhook', url, timeoutMs: 10_000, headers: {}, auth: null, format: 'ndjson' },
    ...{ compress: false, signature: null, tls: { caFile: null, insecure: false } },
  }
}

function startThread(t: TestContext, output: ShipperThreadOptions['output']) {
  const { port1: clock, port2 } = new MessageChannel()
  const options: TestThreadOptions = {
    ...{ dir: scratchDir(), maxBytes: 1e9, shareBytes: 1e9, minFreeBytes: 0, whenFull: 'drop-oldest' },
    ...{
      count: newSpoolCount(),
      firstOwner: null,
      isCountKept: true,
      worker: 1,
      preparation: { geo: null, privacy: null },
    },
    output,
    clock: port2,
  }
  const memory = newLogMemory(new SharedTexts().memory, 8 * MIB, MIB)
  const ring = new RingWriter(memory.ring, 8 * MIB)
  const { port1: received, port2: reports } = new MessageChannel()
  const data: ThreadData<TestThreadOptions> = { memory, reports, lookEveryMs: 1, options }
  const transferList = [port2, reports]
  const thread = new Worker(THIS_FILE, { workerData: data, transferList, env: {}, execArgv: [] })
  t.after(() => thread.terminate())
  t.after(() => clock.close())
  t.after(() => received.close())
  let handed = 0
  /** Hands over records one by one and waits until each is taken. */
  const put = async (records: number, bytes: number): Promise<void> => {
    for (let i = 0; i < records; i++) {
      const writer = new RecordWriter()
      writer.template(NO_REFERENCE, JSON.stringify({ text: 'x'.repeat(bytes) }))
      if (ring.add(writer) === 'wake the thread') thread.postMessage({ kind: 'wake' })
      handed++
      await until(() => readCounts(memory.counts).taken === handed, 'it is taken')
    }
  }
  const reported: (string | null)[] = []
  clock.on('message', (file: string | null) => reported.push(file))
  /** Advances the clock and returns the synced segments by the numbers of their first records. */
  const syncedIn = async (ms: number): Promise<readonly string[]> => {
    clock.postMessage(ms)
    await until(() => reported.at(-1) === null, 'the time has passed')
    const files = reported.splice(0).filter((file) => file !== null)
    return files.map((file) => file.slice(0, 15)).sort()
  }
  return { put, syncedIn }
}

function defineTests(): void {
  test('what was written is brought to the disk once a second, not with every record', {
    skip: process.platform !== 'linux' && 'only Linux shows the names of open files',
  }, async (t) => {
    const [first, second] = ['000000000000000', '000000000008192']
    const { put, syncedIn } = startThread(t, ELASTICSEARCH_AWAY)
    assert.deepEqual(await syncedIn(500), [])
    await put(50, 100)
    assert.deepEqual(await syncedIn(499), [])
    assert.deepEqual(await syncedIn(1), [first])
    // The first segment is full now and no longer open at the next sync.
    await put(3, 600 * 1024)
    assert.deepEqual(await syncedIn(999), [])
    assert.deepEqual(await syncedIn(1), [first, second])
    // No new records.
    assert.deepEqual(await syncedIn(1000), [])
  })

  test('a webhook has each record 80 ms after the thread has it', async (t) => {
    const receiver = await webhookReceiver(t)
    const { put, syncedIn } = startThread(t, webhookTo(receiver.url))
    for (let records = 1; records <= 3; records++) {
      await put(1, 100)
      await syncedIn(80)
      await until(() => receiver.posts.length === records, `${records} have come`)
    }
  })
}
