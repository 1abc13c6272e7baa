import { join } from 'node:path'
import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import type { GatewayWish, RunningGateway } from '../contestant/gateway.js'
import { treeCpuMicros } from '../measure/process-use.js'
import { median } from '../statistics.js'
import { optionsOf } from './options.js'
import { runRound } from './round.js'
import { onTestBed, type TestBed } from './test-bed.js'

/**
 * CPU time per call with the traffic log in Elasticsearch, in files, and off: three gateways with one worker in turn,
 * `fields: standard`, no policy. The time counts until the last record of a round has been delivered, so that what the
 * log's thread does later is in it. `--rounds N --seconds S`.
 */
const GET = { name: 'GET', path: '/', bodyBytes: 0 }
const SINKS = ['none', 'file', 'elasticsearch'] as const
const { rounds, seconds } = optionsOf({ rounds: 5, seconds: 4 })

await onTestBed(study)

async function study(bed: TestBed): Promise<void> {
  const node = await bed.elasticsearch()
  const origin = await bed.origin()
  const gateways: RunningGateway[] = []
  for (const sink of SINKS) gateways.push(await bed.gateway(origin.url, { log: logOf(sink, bed, node) }))
  for (const gateway of gateways) await settledRound(gateway, bed.dir)
  const costs: number[][] = SINKS.map(() => [])
  for (let i = 0; i < rounds; i++) {
    for (const [at, gateway] of gateways.entries()) costs[at]!.push(await settledRound(gateway, bed.dir))
  }
  print(costs)
}

function logOf(sink: (typeof SINKS)[number], bed: TestBed, node: ElasticsearchNode): GatewayWish['log'] {
  if (sink === 'none') return { sink }
  if (sink === 'file') return { sink, fields: 'standard', file: { dir: join(bed.dir, 'traffic') } }
  return bed.logTo(node, 'logs-gateway-cost')
}

/** CPU microseconds per call of a round, until all that it logged is delivered. */
async function settledRound(gateway: RunningGateway, dir: string): Promise<number> {
  const before = treeCpuMicros(gateway.pid)
  const round = await runRound(gateway, GET, { seconds, dir })
  if (round.invalid !== null) throw new Error(`the round does not count: ${round.invalid}`)
  await gateway.settled()
  return (treeCpuMicros(gateway.pid) - before) / round.requests
}

function print(costs: readonly (readonly number[])[]): void {
  const off = median(costs[0]!)
  console.log('| traffic log | µs a call (min-max) | more than off, µs | % |\n| --- | --- | --- | --- |')
  for (const [i, sink] of SINKS.entries()) {
    const values = costs[i]!
    const added = values.map((value, round) => value - costs[0]![round]!)
    const spread = `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)}-${Math.max(...values).toFixed(1)})`
    const more =
      i === 0
        ? ''
        : `${median(added).toFixed(1)} (${Math.min(...added).toFixed(1)}-${Math.max(...added).toFixed(1)})`
    console.log(
      `| ${sink} | ${spread} | ${more} | ${i === 0 ? '' : ((100 * median(added)) / off).toFixed(1)} |`,
    )
  }
}
