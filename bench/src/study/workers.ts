import type { RunningServer } from '../contestant/running-server.js'
import { median } from '../statistics.js'
import { optionsOf } from './options.js'
import { runRound } from './round.js'
import { onTestBed, type TestBed } from './test-bed.js'

/**
 * Whether a request costs as much CPU time with two workers as with one: two gateways in turn, everything wherever the
 * system puts it, because load and origin need the cores as well. `--rounds N --seconds S`.
 */
const GET = { name: 'GET', path: '/get', bodyBytes: 0 }
const COUNTS = [1, 2] as const
const { rounds, seconds } = optionsOf({ rounds: 7, seconds: 3 })

await onTestBed(study)

async function study(bed: TestBed): Promise<void> {
  const { url } = await bed.origin()
  const gateways: RunningServer[] = []
  for (const workers of COUNTS) gateways.push(await bed.gateway(url, { workers, cpus: null }))
  for (const gateway of gateways) await cost(gateway, bed.dir)
  const costs: number[][] = COUNTS.map(() => [])
  for (let i = 0; i < rounds; i++) {
    for (const [at, gateway] of gateways.entries()) costs[at]!.push(await cost(gateway, bed.dir))
  }
  for (const [at, workers] of COUNTS.entries())
    console.log(`${workers} workers: ${text(costs[at]!)} µs a GET`)
  const ratios = costs[1]!.map((micros, i) => micros / costs[0]![i]!)
  console.log(`two workers over one, round by round: ${text(ratios)}`)
}

async function cost(gateway: RunningServer, dir: string): Promise<number> {
  const round = await runRound(gateway, GET, { seconds, dir, cpu: null })
  if (round.invalid !== null) throw new Error(`the round does not count: ${round.invalid}`)
  return round.cpuMicrosPerRequest
}

function text(values: readonly number[]): string {
  return `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)}-${Math.max(...values).toFixed(2)})`
}
