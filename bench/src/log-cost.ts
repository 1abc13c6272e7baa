import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startElasticsearch } from '@sluice/logger/testing/elasticsearch'
import { ADMIN_PORT_OFFSET, type Contestant, startGateway, startOrigin } from './contestant.js'
import { cpuMicros, processTree } from './process-cpu.js'
import { runRound } from './round.js'
import { median } from './statistics.js'

/**
 * CPU time per call with the traffic log in Elasticsearch, in files, and off: three gateways with one worker in turn,
 * `fields: standard`, no policy. The time counts until the last record of a round has been delivered, so that what the
 * log's thread does later is in it. `--rounds N --seconds S`.
 */
const PORTS = { origin: 19_120, elasticsearch: 19_194 }
const GET = { name: 'GET', path: '/', bodyBytes: 0 }
const SINKS = ['none', 'file', 'elasticsearch'] as const
const SETTLE_S = 120

await main()

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-log-cost-'))
  const node = await startElasticsearch({
    dir: join(dir, 'elasticsearch'),
    port: PORTS.elasticsearch,
    jvmOptions: [],
  })
  const running: Contestant[] = []
  try {
    running.push(await startOrigin(dir, PORTS.origin))
    const gateways: Contestant[] = []
    for (const [i, sink] of SINKS.entries()) {
      const gateway = await startGateway(dir, 19_121 + i, PORTS.origin, logOf(sink, dir, node.url))
      gateways.push(gateway)
      running.push(gateway)
    }
    const seconds = number('--seconds', 4)
    for (const gateway of gateways) await settledRound(gateway, seconds, dir)
    const costs: number[][] = SINKS.map(() => [])
    for (let i = 0; i < number('--rounds', 5); i++) {
      for (const [at, gateway] of gateways.entries())
        costs[at]!.push(await settledRound(gateway, seconds, dir))
    }
    print(costs)
  } finally {
    await Promise.all(running.map((contestant) => contestant.stop()))
    await node.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

function logOf(sink: (typeof SINKS)[number], dir: string, url: string): string {
  if (sink === 'none') return '{ sink: none }'
  if (sink === 'file') return `{ sink: file, fields: standard, file: { dir: "${dir}/traffic" } }`
  return `{ sink: elasticsearch, fields: standard, elasticsearch: { nodes: ["${url}"], replicas: 0, spool: { dir: "${dir}/spool" } } }`
}

/** CPU microseconds per call of a round, until all that it logged is delivered. */
async function settledRound(gateway: Contestant, seconds: number, dir: string): Promise<number> {
  const before = treeCpu(gateway.pid)
  const round = runRound(gateway, GET, seconds, dir)
  if (round.invalid !== null) throw new Error(`the round does not count: ${round.invalid}`)
  await settled(gateway)
  return (treeCpu(gateway.pid) - before) / round.requests
}

async function settled(gateway: Contestant): Promise<void> {
  const admin = `http://127.0.0.1:${Number(new URL(gateway.url).port) + ADMIN_PORT_OFFSET}/v1/log`
  for (let i = 0; i < SETTLE_S; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const { onDisk, inMemory } = (await (await fetch(admin)).json()) as { onDisk: number; inMemory: number }
    if (onDisk + inMemory === 0) return
  }
  throw new Error('the log was not delivered in time')
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

function treeCpu(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + cpuMicros(pid), 0)
}

function number(name: string, otherwise: number): number {
  const at = process.argv.indexOf(name)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
