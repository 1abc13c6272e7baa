import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release } from 'node:os'
import type { RunningServer } from '../contestant/running-server.js'
import { optionsOf } from './options.js'
import { comparePolicy, POLICY_PATHS, type PolicyCost } from './policy-cost.js'
import { type Line, policySentence, resultTable } from './result-table.js'
import { type Round, type RoundScenario, runRound } from './round.js'
import { onTestBed, type TestBed } from './test-bed.js'

/**
 * CPU microseconds per proxied request of the gateway with one worker, beside nginx in the same run: rounds of both in
 * turn, so that a machine that changes its speed changes both. Then what the `header` policy adds, in many short slices
 * with and without it. `--rounds N --seconds S --slices N --json FILE`.
 */
const SCENARIOS: readonly RoundScenario[] = [
  { name: 'GET', path: '/get', bodyBytes: 0 },
  { name: 'GET over undici', path: '/undici/get', bodyBytes: 0 },
  { name: 'POST 1 KB', path: '/get', bodyBytes: 1024 },
  { name: 'POST 5 KB', path: '/get', bodyBytes: 5120 },
]
/** What nginx as the origin would answer before it had read it. */
const LONG: readonly RoundScenario[] = [{ name: 'POST 50 KB', path: '/get', bodyBytes: 51_200 }]
const { rounds, seconds, slices, json } = optionsOf({ rounds: 3, seconds: 4, slices: 1500, json: null })

await onTestBed(study)

async function study(bed: TestBed): Promise<void> {
  const origin = await bed.origin()
  const gateway = await bed.gateway(origin.url)
  const short = await measure(SCENARIOS, [await bed.peer(origin.url), gateway], bed.dir)
  const { url } = await bed.sink()
  const long = await measure(LONG, [await bed.peer(url), await bed.gateway(url)], bed.dir)
  const lines = [...short, ...long]
  console.log(machine())
  console.log(resultTable(lines))
  const policies: Record<string, PolicyCost> = {}
  for (const [transport, paths] of Object.entries(POLICY_PATHS)) {
    policies[transport] = await comparePolicy(gateway, slices, paths)
    console.log(`${transport}: ${policySentence(policies[transport])}`)
  }
  if (json !== null) writeFileSync(json, JSON.stringify({ machine: machine(), lines, policies }, null, 2))
}

async function measure(
  scenarios: readonly RoundScenario[],
  contestants: readonly RunningServer[],
  dir: string,
): Promise<Line[]> {
  const found = new Map<string, Round[]>()
  for (const contestant of contestants) await runRound(contestant, scenarios[0]!, { seconds, dir })
  for (let i = 0; i < rounds; i++) {
    for (const scenario of scenarios) {
      for (const contestant of contestants) {
        const key = `${scenario.name}\t${contestant.name}`
        found.set(key, [...(found.get(key) ?? []), await runRound(contestant, scenario, { seconds, dir })])
      }
    }
  }
  return [...found].map(([key, list]) => {
    const [scenario, contestant] = key.split('\t') as [string, string]
    return { scenario, contestant, rounds: list }
  })
}

function machine(): string {
  return `${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} CPUs, Linux ${release()}, Node.js ${process.versions.node}`
}
