import { join } from 'node:path'
import { Exchange, type LogSink, NO_ROUTE, PHASE } from '@sluice/core'
import {
  encodeRecord,
  noneSink,
  openFileSink,
  openShippingSink,
  recordEnv,
  type TargetOptions,
} from '@sluice/logger'
import { quantile } from '../statistics.js'
import { optionsOf } from './options.js'
import { onTestBed, type TestBed } from './test-bed.js'

/**
 * What a record of the traffic log costs at `fields: standard`: on the thread of the requests, and all in all, with the
 * log's own thread, until a real Elasticsearch has it; less what the same program costs without a log. Records come in
 * bursts with pauses, as requests do. `--records N`.
 */
const BURST = 50
const PAUSE_MS = 5
const WARM_UP = 20_000

const { records } = optionsOf({ records: 200_000 })

await onTestBed(study)

async function study(bed: TestBed): Promise<void> {
  const node = await bed.elasticsearch()
  const common = {
    fields: 'standard',
    worker: 1,
    version: '0.1.0',
    configDigest: () => 'ab'.repeat(32),
  } as const
  const file = { dir: join(bed.dir, 'traffic'), maxBytes: 1024 ** 3, segmentBytes: 64 * 1024 ** 2 }
  const spool = { dir: join(bed.dir, 'spool'), maxBytes: 1024 ** 3, whenFull: 'drop-oldest' } as const
  const access = { nodes: [node.url], auth: null, caFile: null, insecure: false, compress: false }
  const stream = { dataStream: 'logs-gateway-bench', retentionDays: null, replicas: 0, manage: true }
  const target: TargetOptions = { kind: 'elasticsearch', ...access, ...stream }
  const env = recordEnv({ ...common, node: 'pod-1' })
  console.log(`a record has ${encodeRecord(finishedExchange(), env).length} bytes`)
  const without = await cost(noneSink)
  print('file', await cost(openFileSink({ ...common, ...file })), without)
  print('elasticsearch', await cost(openShippingSink({ ...common, spool, target })), without)
}

interface Cost {
  /** Microseconds of each burst on the request thread. */
  readonly bursts: readonly number[]
  /** CPU microseconds of the process for each record. */
  readonly micros: number
  readonly dropped: number
}

async function cost(sink: LogSink): Promise<Cost> {
  const x = finishedExchange()
  await feed(sink, x, WARM_UP)
  await settled(sink)
  const before = process.cpuUsage()
  const bursts = await feed(sink, x, records)
  await settled(sink)
  const { user, system } = process.cpuUsage(before)
  const { dropped } = sink.identity()
  await sink.close(10_000)
  return { bursts, micros: (user + system) / records, dropped }
}

async function feed(sink: LogSink, x: Exchange, count: number): Promise<number[]> {
  const bursts: number[] = []
  for (let i = 0; i < count; i += BURST) {
    const startedMono = performance.now()
    for (let k = 0; k < BURST; k++) sink.record(x)
    bursts.push(1000 * (performance.now() - startedMono))
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  return bursts
}

async function settled(sink: LogSink): Promise<void> {
  for (;;) {
    const { onDisk, inMemory } = sink.identity()
    if (onDisk + inMemory === 0) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function print(name: string, { bursts, micros, dropped }: Cost, without: Cost): void {
  const perRecord = (share: number): string => (quantile(bursts, share) / BURST).toFixed(2)
  console.log(
    `${name}: ${perRecord(0.5)} µs a record on the request thread (quartiles ${perRecord(0.25)} and ${perRecord(0.75)}), ` +
      `${(micros - without.micros).toFixed(2)} µs in all, ${dropped} dropped`,
  )
}

/** A GET as a gateway in front of one upstream finishes it, with the times of its phases. */
function finishedExchange(): Exchange {
  const startedMono = performance.now() - 12
  const x = new Exchange()
  x.times.keep()
  Object.assign(x, {
    ...{ id: '019aa3f0-6c1e-7b7e-9d6f-3f1f2a4b5c6d', startedAt: Date.now(), startedMono },
    ...{ method: 'GET', authority: 'api.example.com', host: 'api.example.com', requestHeadBytes: 213 },
    ...{ rawPath: '/orders/42', path: '/orders/42', peer: '10.0.0.9', clientIp: '203.0.113.7' },
    headers: [
      ...['accept', '*/*', 'user-agent', 'curl/8.5.0', 'x-forwarded-for', '203.0.113.7'],
      ...['x-forwarded-proto', 'https', 'x-request-id', '019aa3f0-6c1e-7b7e-9d6f-3f1f2a4b5c6d'],
    ],
    route: { ...NO_ROUTE, id: 'orders', template: '/orders/{id}' },
    ...{ status: 200, responseHeaders: ['content-type', 'application/json'], responseBytes: 2048 },
  })
  const attempts = {
    upstream: 'orders',
    target: 'http://10.0.0.5:9000',
    status: 200,
    count: 1,
    isReused: true,
  }
  Object.assign(x.attempts, attempts)
  x.times.sinceMono = startedMono
  const phases = [
    [PHASE.upstreamQueue, 0.412],
    [PHASE.upstreamFirstByte, 0.455],
    [PHASE.upstreamBody, 11.318],
    [PHASE.clientWrite, 11.936],
  ] as const
  for (const [phase, afterMs] of phases) x.times.enter(phase, startedMono + afterMs)
  x.end(startedMono + 12)
  return x
}
