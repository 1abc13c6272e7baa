import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contestant, startGateway, startOrigin, startPeer } from './contestant.js'
import { comparePolicy, POLICY_PATHS, type PolicyCost } from './policy-cost.js'
import { type Line, policySentence, resultTable } from './report.js'
import { type Round, runRound, type Scenario } from './round.js'

/**
 * CPU microseconds per proxied request of the gateway with one worker, beside nginx in the same run: rounds of both in
 * turn, so that a machine that changes its speed changes both. Then what the `header` policy adds, in many short slices
 * with and without it. `--rounds N --seconds S --slices N --json FILE`.
 */
const SCENARIOS: readonly Scenario[] = [
  { name: 'GET', path: '/', bodyBytes: 0 },
  { name: 'GET over undici', path: '/undici', bodyBytes: 0 },
  { name: 'POST 1 KB', path: '/', bodyBytes: 1024 },
  { name: 'POST 5 KB', path: '/', bodyBytes: 5120 },
]
const PORTS = { origin: 19_100, nginx: 19_101, sluice: 19_102 }

await main()

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const running: Contestant[] = []
  try {
    running.push(await startOrigin(dir, PORTS.origin))
    running.push(await startPeer(dir, PORTS.nginx, PORTS.origin))
    running.push(await startGateway(dir, PORTS.sluice, PORTS.origin))
    const lines = measure(running.slice(1), dir)
    console.log(machine())
    console.log(resultTable(lines))
    const policies: Record<string, PolicyCost> = {}
    for (const [transport, paths] of Object.entries(POLICY_PATHS)) {
      policies[transport] = await comparePolicy(running[2]!, number('--slices', 1500), paths)
      console.log(`${transport}: ${policySentence(policies[transport])}`)
    }
    const file = option('--json')
    if (file !== null) writeFileSync(file, JSON.stringify({ machine: machine(), lines, policies }, null, 2))
  } finally {
    await Promise.all(running.map((contestant) => contestant.stop()))
    rmSync(dir, { recursive: true, force: true })
  }
}

function measure(contestants: readonly Contestant[], dir: string): Line[] {
  const rounds = number('--rounds', 3)
  const seconds = number('--seconds', 4)
  const found = new Map<string, Round[]>()
  for (const contestant of contestants) runRound(contestant, SCENARIOS[0]!, seconds, dir)
  for (let i = 0; i < rounds; i++) {
    for (const scenario of SCENARIOS) {
      for (const contestant of contestants) {
        const key = `${scenario.name}\t${contestant.name}`
        found.set(key, [...(found.get(key) ?? []), runRound(contestant, scenario, seconds, dir)])
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

function option(name: string): string | null {
  const at = process.argv.indexOf(name)
  return at < 0 ? null : (process.argv[at + 1] ?? null)
}

function number(name: string, otherwise: number): number {
  return Math.max(1, Number(option(name) ?? otherwise))
}
