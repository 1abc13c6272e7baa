import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { logIdentity, type RunningGateway } from '../contestant/gateway.js'
import { countDocuments } from '../contestant/search-engine.js'
import { treeRssBytes } from '../measure/process-use.js'
import { optionsOf } from './options.js'
import { type Outage, outagesOf } from './outage.js'
import { SteadyLoad } from './steady-load.js'
import { onTestBed, type TestBed } from './test-bed.js'

/**
 * What an outage of Elasticsearch costs the clients and the log: a constant rate of calls, the node ended in the middle
 * and started again, then the wait until every record is there. `--rate N --warm S --before S --outage S`. With
 * `--how pause` the node stands still instead, and goes on with what its JVM has compiled before; with `--how read-only`
 * its index takes no records.
 */
const STREAM = 'logs-gateway-outage'
/** Records of so many seconds are on their way also without an outage. */
const USUAL_S = 3
const DRAIN_S = 480
/** The JVM of Elasticsearch compiles for long on a small machine, and is slow meanwhile. */
const options = optionsOf({ rate: 5000, warm: 90, before: 30, outage: 60, how: null })
const outages = outagesOf(STREAM)
const outage = outages.get(options.how ?? 'stop')
if (outage === undefined) {
  console.error(`--how is '${options.how}'; the ways of an outage are ${[...outages.keys()].join(', ')}`)
  process.exit(2)
}

await onTestBed((bed) => study(bed, outage))

async function study(bed: TestBed, outage: Outage): Promise<void> {
  const node = await bed.elasticsearch()
  const origin = await bed.origin()
  const gateway = await bed.gateway(origin.url, { log: bed.logTo(node, STREAM) })
  const load = new SteadyLoad(Number(new URL(gateway.url).port), options.rate)
  await load.start()
  await phase('warm-up', options.warm, load, gateway)
  const usual = (await phase('before', options.before, load, gateway)) * USUAL_S
  await outage.begin(bed, node)
  const endedMono = performance.now()
  await phase('outage', options.outage, load, gateway)
  const goesOnMono = performance.now()
  const again = await outage.end(bed, node)
  await again.request('GET', '/_cluster/health')
  const answeredMono = performance.now()
  const waits = [secondsBetween(goesOnMono, answeredMono), secondsBetween(endedMono, answeredMono)]
  console.log(`the node answered ${waits[0]} s after it was let go on, ${waits[1]} s after its end`)
  tell('start', load, 'until it answered')
  tell('drain', load, await drain(usual, answeredMono, gateway))
  await phase('after', 5, load, gateway)
  await load.stop()
  await gateway.settled()
  await report(again, gateway, load.total)
}

/** Tells what clients saw in some seconds; answers with the calls a second. */
async function phase(
  name: string,
  forSeconds: number,
  load: SteadyLoad,
  gateway: RunningGateway,
): Promise<number> {
  let peak = 0
  for (let i = 1; i < forSeconds; i++) {
    await seconds(1)
    peak = Math.max(peak, treeRssBytes(gateway.pid))
  }
  // The last of the seconds, so that calls are counted over as many as were asked for.
  const records = await identity(gateway)
  peak = Math.max(peak, treeRssBytes(gateway.pid))
  const requests = tell(name, load, `resident at most ${Math.round(peak / 1024 ** 2)} MB`)
  console.log(`${name}: ${JSON.stringify(records)}`)
  return requests / forSeconds
}

/** Tells what clients saw since the last time; answers with the number of their calls. */
function tell(name: string, load: SteadyLoad, more: string): number {
  const { requests, failed, p50Ms, p99Ms } = load.span()
  console.log(
    `${name}: ${requests} calls, ${failed} failed, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, ${more}`,
  )
  return requests
}

/** Until no more records wait than without an outage, while calls go on; counted from when the node answered. */
async function drain(usual: number, answeredMono: number, gateway: RunningGateway): Promise<string> {
  let { onDisk } = await identity(gateway)
  while (onDisk > usual && performance.now() - answeredMono < DRAIN_S * 1000)
    onDisk = (await identity(gateway)).onDisk
  const waited = secondsBetween(answeredMono, performance.now())
  return onDisk > usual
    ? `not drained ${waited} s after the node answered: ${onDisk} records wait`
    : `drained ${waited} s after the node answered`
}

async function report(node: ElasticsearchNode, gateway: RunningGateway, sent: number): Promise<void> {
  const documents = await countDocuments(node, STREAM)
  console.log(`${sent} calls, ${documents} documents, ${JSON.stringify(await identity(gateway))}`)
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
