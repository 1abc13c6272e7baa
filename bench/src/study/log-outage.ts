import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { logIdentity, type RunningGateway } from '../contestant/gateway.js'
import { treeRssBytes } from '../measure/process-use.js'
import { median } from '../statistics.js'
import type { Span } from '../trial/load-spans.js'
import { balanceLine, isBalanced } from '../trial/log-balance.js'
import { countLog, type LogPlaces } from '../trial/log-count.js'
import { SteadyLoad } from '../trial/steady-load.js'
import { optionsOf } from './options.js'
import type { Outage, Stage } from './outage/outage.js'
import { outagesOf } from './outage/ways.js'
import { onTestBed, type TestBed } from './test-bed.js'

/**
 * What an outage costs the clients and the log: a constant rate of calls, in the middle of it a time in which records do
 * not come where they should, then the wait until every record is there, and a line that says whether each of them is
 * there once. `--rate N --warm S --before S --outage S --times N --how WAY --node SEAT`, where the way is one of these:
 *
 *     stop                the node is ended and started again; the default
 *     pause               the node stands still, and goes on with what its JVM has compiled before
 *     read-only           its index takes no records: each is answered with 403
 *     too-many-requests   every bulk is answered with 429 as a whole
 *     half-rejected       half of the records of every bulk are refused for good: they become dead letters
 *     full-disk           the spool's disk is full while the node takes records; needs to be root
 *
 * With `--times N` there are so many outages, each with a time before it, and at the end their P99 in one line. It ends
 * with 1 when a record is not where the log says, or is there twice.
 * The node runs `aside`, on all cores in the time that others leave (the default), or `apart`, on a core of its own.
 */
const STREAM = 'logs-gateway-outage'
/** Records of so many seconds are on their way also without an outage. */
const USUAL_S = 3
const DRAIN_S = 480
/** The JVM of Elasticsearch compiles for long on a small machine, and is slow meanwhile. */
const options = optionsOf({ rate: 5000, warm: 90, before: 30, outage: 60, times: 1, how: null, node: null })
const outages = outagesOf(STREAM)
const outage = outages.get(options.how ?? 'stop')
if (outage === undefined) {
  console.error(`--how is '${options.how}'; the ways of an outage are ${[...outages.keys()].join(', ')}`)
  process.exit(2)
}

const nodeSeat = options.node ?? 'aside'
if (nodeSeat !== 'aside' && nodeSeat !== 'apart') {
  console.error(`--node is '${nodeSeat}'; it runs aside or apart`)
  process.exit(2)
}

await onTestBed((bed) => study(bed, outage), nodeSeat)

async function study(bed: TestBed, outage: Outage): Promise<void> {
  let node = await bed.elasticsearch()
  const origin = await bed.origin()
  const behind = outage.gatewayBehind === undefined ? [] : bed.behind(outage.gatewayBehind)
  const gateway = await bed.gateway(origin.url, { log: bed.logTo(node, STREAM), behind })
  const load = new SteadyLoad(Number(new URL(gateway.url).port), options.rate, outage)
  await load.start()
  await phase('warm-up', options.warm, load, gateway)
  const pairs: P99Pair[] = []
  for (let i = 0; i < options.times; i++) {
    const { again, ...pair } = await oneOutage(outage, { bed, node, gateway }, load)
    pairs.push(pair)
    node = again
  }
  await load.stop()
  await gateway.settled()
  console.log(pairsLine(pairs))
  await report({ node, stream: STREAM, spoolDir: bed.spoolOf(gateway), gateway }, load.total)
}

/** A time without an outage, one with it, and the wait until all is as before; answers with the node from then on. */
async function oneOutage(
  outage: Outage,
  stage: Stage,
  load: SteadyLoad,
): Promise<P99Pair & { readonly again: ElasticsearchNode }> {
  const { gateway } = stage
  const before = await phase('before', options.before, load, gateway)
  await outage.begin(stage)
  tell('begin', load, 'until the outage had begun')
  const begunMono = performance.now()
  const during = await phase('outage', options.outage, load, gateway)
  const goesOnMono = performance.now()
  const again = await outage.end(stage)
  const overMono = performance.now()
  const waits = [secondsBetween(goesOnMono, overMono), secondsBetween(begunMono, overMono)]
  console.log(`${outage.over} ${waits[0]} s after the outage was to end, ${waits[1]} s after it had begun`)
  tell('end', load, `until ${outage.over}`)
  const usual = (before.requests / options.before) * USUAL_S
  tell('drain', load, await drain(usual, overMono, gateway))
  await phase('after', 5, load, gateway)
  return { again, beforeMs: before.p99Ms, outageMs: during.p99Ms }
}

/** What clients saw before an outage and in it. */
interface P99Pair {
  readonly beforeMs: number
  readonly outageMs: number
}

function pairsLine(pairs: readonly P99Pair[]): string {
  const [before, during] = [pairs.map((pair) => pair.beforeMs), pairs.map((pair) => pair.outageMs)]
  const change = ((median(during) / median(before) - 1) * 100).toFixed(0)
  const [was, is] = [before, during].map((values) => values.map((ms) => ms.toFixed(1)).join(', '))
  return `p99, ms: ${was} before, ${is} in the outage: ${change} % by the medians`
}

/** Tells, and answers, what clients saw in some seconds. */
async function phase(
  name: string,
  forSeconds: number,
  load: SteadyLoad,
  gateway: RunningGateway,
): Promise<Span> {
  let peak = 0
  for (let i = 1; i < forSeconds; i++) {
    await seconds(1)
    peak = Math.max(peak, treeRssBytes(gateway.pid))
  }
  // The last of the seconds, so that calls are counted over as many as were asked for.
  const records = await identity(gateway)
  peak = Math.max(peak, treeRssBytes(gateway.pid))
  const span = tell(name, load, `resident at most ${Math.round(peak / 1024 ** 2)} MB`)
  console.log(`${name}: ${JSON.stringify(records)}`)
  return span
}

/** Tells what clients saw since the last time; answers with it. */
function tell(name: string, load: SteadyLoad, more: string): Span {
  const span = load.span()
  const { requests, failed, p50Ms, p99Ms } = span
  console.log(
    `${name}: ${requests} calls, ${failed} failed, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, ${more}`,
  )
  return span
}

/** Until no more records wait than without an outage, while calls go on; counted from when it was over. */
async function drain(usual: number, overMono: number, gateway: RunningGateway): Promise<string> {
  let waiting = await waitingRecords(gateway)
  while (waiting > usual && performance.now() - overMono < DRAIN_S * 1000)
    waiting = await waitingRecords(gateway)
  const waited = secondsBetween(overMono, performance.now())
  return waiting > usual
    ? `not drained ${waited} s later: ${waiting} records wait`
    : `drained ${waited} s later`
}

async function waitingRecords(gateway: RunningGateway): Promise<number> {
  const { onDisk, inMemory } = await identity(gateway)
  return onDisk + inMemory
}

async function report(places: LogPlaces, calls: number): Promise<void> {
  const count = await countLog(places, calls)
  console.log(`log: ${JSON.stringify(count.identity)}`)
  console.log(`${count.letters} dead letters on disk`)
  console.log(balanceLine(count))
  if (!isBalanced(count)) process.exitCode = 1
}

/** Heartbeats bring the numbers; one of them is waited for. */
async function identity(gateway: RunningGateway): ReturnType<typeof logIdentity> {
  await seconds(1)
  return logIdentity(gateway.admin)
}

function secondsBetween(fromMono: number, toMono: number): number {
  return Math.round((toMono - fromMono) / 1000)
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000))
}
