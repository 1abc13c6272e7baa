import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { LogIdentity, LogSink } from '@sluice/core'
import type { ElasticsearchAccess } from '../elasticsearch/client.js'
import { elasticsearchSkip } from '../testing/elasticsearch.js'
import {
  connectionTo,
  freshDataStream,
  type SharedElasticsearch,
  sharedElasticsearch,
} from '../testing/shared-elasticsearch.js'
import { TcpBridge } from '../testing/tcp-bridge.js'
import { assertIdentity, closeWhole, sampleExchange, scratchDir, until } from '../testing.js'
import { openShippingSink } from './shipping-sink.js'

// Delivery of records to a real node during outages, and from processes that are killed. Killing and restarting a node
// is tested by the trials of gw bench (bench/src/trial).

const skip = elasticsearchSkip
/** A node that is down. */
const NOBODY = 'http://127.0.0.1:9'
const THIS_FILE = fileURLToPath(import.meta.url)
/** Number of records that the program below logs before it waits for them to be written. */
const HANDED_OFF = 3000
/** With a URL, a data stream and a directory as arguments, this file is a program that logs until it is killed. */
const [, , url, stream, dir] = process.argv
if (url === undefined) defineTests()
else await logEndlessly(sinkTo(nobody(url), stream!, dir!))

async function logEndlessly(sink: LogSink): Promise<void> {
  for (let i = 0; ; ) {
    for (let burst = 0; burst < 10; burst++) sink.record(sampleExchange({ id: `r-${i++}` }))
    do {
      process.send?.({ made: i, identity: sink.identity() })
      await sleep(2)
    } while (i === HANDED_OFF && sink.identity().onDisk < HANDED_OFF)
  }
}

function nobody(node = NOBODY): ElasticsearchAccess {
  return { nodes: [node], auth: null, caFile: null, insecure: false, compress: false }
}

function sinkTo(
  connection: ElasticsearchAccess,
  dataStream: string,
  spoolDir: string,
  problems: string[] = [],
): LogSink {
  return openShippingSink({
    ...{ fields: 'standard', worker: 1, version: '0.1.0', configDigest: () => 'abc' },
    onProblem: (problem) => problems.push(problem),
    spool: { dir: spoolDir, maxBytes: 256 * 1024 ** 2, whenFull: 'drop-oldest' },
    output: {
      ...{ ...connection, kind: 'elasticsearch' },
      ...{ dataStream, retentionDays: null, replicas: 0, manage: true },
    },
  })
}

interface Made {
  readonly made: number
  readonly identity: LogIdentity
}

function defineTests(): void {
  let node: SharedElasticsearch
  let bridge: TcpBridge
  const streams = { outage: freshDataStream(), hang: freshDataStream(), next: freshDataStream() }

  before(async () => {
    if (skip !== false) return
    node = await sharedElasticsearch()
    bridge = await TcpBridge.to(node.port)
  })
  after(async () => {
    await bridge?.cut()
    await node?.release()
  })

  function connection(): ElasticsearchAccess {
    return connectionTo(node, `https://127.0.0.1:${bridge.port}`)
  }

  async function countIn(name: string): Promise<number> {
    await node.request('POST', `/${name}/_refresh`)
    const { body } = await node.request('GET', `/${name}/_count`)
    return (body as { count: number }).count
  }

  async function outage(during: () => Promise<void>): Promise<void> {
    await bridge.cut()
    try {
      await during()
    } finally {
      await bridge.mend()
    }
  }

  async function log(sink: LogSink, records: number): Promise<void> {
    for (let i = 0; i < records; i++) {
      sink.record(sampleExchange({ id: `r-${i}` }))
      if (i % 50 !== 49) continue
      await sleep(5)
      assertIdentity(sink.identity())
    }
  }

  test('an outage of the target loses and duplicates no records', { skip }, async (t) => {
    const problems: string[] = []
    const sink = sinkTo(connection(), streams.outage, scratchDir(), problems)
    t.after(() => closeWhole(sink, 0))
    await log(sink, 1000)
    await until(() => sink.identity().indexed === 1000, 'the first are indexed', 300_000)
    await outage(async () => {
      await log(sink, 10_000)
      await until(() => sink.identity().onDisk === 10_000, 'they wait on disk')
    })
    await log(sink, 1000)
    await until(() => sink.identity().indexed === 12_000, 'all are indexed', 300_000)
    assertIdentity(sink.identity())
    assert.equal(await countIn(streams.outage), 12_000)
    assert.match(problems[0] ?? '', /the traffic log waits: Elasticsearch does not respond/)
  })

  test('a target that hangs with open connections loses no records', { skip }, async (t) => {
    const sink = sinkTo(connection(), streams.hang, scratchDir())
    t.after(() => closeWhole(sink, 0))
    await log(sink, 500)
    await until(() => sink.identity().indexed === 500, 'the first are indexed', 300_000)
    bridge.pause()
    try {
      await log(sink, 2000)
      await until(() => sink.identity().onDisk === 2000, 'they wait on disk')
    } finally {
      bridge.resume()
    }
    await until(() => sink.identity().indexed === 2500, 'all are indexed', 300_000)
    assert.equal(await countIn(streams.hang), 2500)
  })

  test('records that cannot be shipped before the end wait for the next process', { skip }, async () => {
    const spoolDir = scratchDir()
    const last = sinkTo(nobody(), streams.next, spoolDir)
    await log(last, 300)
    await last.close(2000)
    assert.deepEqual([last.identity().onDisk, last.identity().dropped], [300, 0])
    const sink = sinkTo(connection(), streams.next, spoolDir)
    await until(() => sink.identity().indexed === 300, 'the next one ships', 300_000)
    assertIdentity(sink.identity())
    await sink.close(5000)
    assert.equal(await countIn(streams.next), 300)
    assert.deepEqual(readdirSync(spoolDir), [])
  })

  test('a killed process loses only records that were not handed over, and they are counted', {
    skip,
  }, async (t) => {
    const spoolDir = scratchDir()
    const killed = freshDataStream()
    let last: Made | null = null as Made | null
    const child = start(t, NOBODY, killed, spoolDir)
    child.on('message', (message: Made) => {
      last = message
    })
    await until(() => (last?.made ?? 0) > HANDED_OFF + 500, 'more follow those on disk')
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('close', resolve))
    const sink = sinkTo(connection(), killed, spoolDir)
    t.after(() => closeWhole(sink, 0))
    await until(
      () => sink.identity().indexed > 0 && sink.identity().onDisk === 0,
      'the rest is shipped',
      120_000,
    )
    const { received, indexed, droppedBy } = sink.identity()
    assertIdentity(sink.identity())
    assert.equal(await countIn(killed), indexed)
    const lost = droppedBy['process_lost'] ?? 0
    assert.equal(received, indexed + lost)
    // On a busy machine, more records than usual wait for the disk. Those on disk are not lost.
    const { made, identity } = last!
    assert.ok(
      identity.onDisk >= HANDED_OFF && indexed >= identity.onDisk,
      `${identity.onDisk}, then ${indexed}`,
    )
    t.diagnostic(`${made} made at least, ${indexed} indexed, ${lost} counted as lost`)
  })

  function start(t: TestContext, nodeUrl: string, dataStream: string, spoolDir: string): ChildProcess {
    mkdirSync(spoolDir, { recursive: true })
    const child = spawn(process.execPath, [THIS_FILE, nodeUrl, dataStream, spoolDir], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    t.after(() => child.kill('SIGKILL'))
    return child
  }
}
