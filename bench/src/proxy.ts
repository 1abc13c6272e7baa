import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contestant, startGateway, startOrigin, startPeer } from './contestant.js'
import { type Round, runRound, type Scenario } from './round.js'

/**
 * CPU microseconds per proxied request of the gateway with one worker, beside nginx in the same run: rounds of both in
 * turn, so that a machine that changes its speed changes both. `--rounds N --seconds S --json FILE`.
 */
const SCENARIOS: readonly Scenario[] = [
  { name: 'GET', path: '/', bodyBytes: 0 },
  { name: 'GET with header policy', path: '/set', bodyBytes: 0 },
  { name: 'POST 1 KB', path: '/', bodyBytes: 1024 },
  { name: 'POST 5 KB', path: '/', bodyBytes: 5120 },
]
const PORTS = { origin: 19_100, nginx: 19_101, sluice: 19_102 }

interface Line {
  readonly scenario: string
  readonly contestant: string
  readonly rounds: readonly Round[]
}

await main()

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const running: Contestant[] = []
  try {
    running.push(await startOrigin(dir, PORTS.origin))
    running.push(await startPeer(dir, PORTS.nginx, PORTS.origin))
    running.push(await startGateway(dir, PORTS.sluice, PORTS.origin))
    const lines = measure(running.slice(1), dir)
    report(lines)
    const file = option('--json')
    if (file !== null) writeFileSync(file, JSON.stringify({ machine: machine(), lines }, null, 2))
  } finally {
    await Promise.all(running.map((contestant) => contestant.stop()))
    rmSync(dir, { recursive: true, force: true })
  }
}

function measure(contestants: readonly Contestant[], dir: string): Line[] {
  const rounds = Number(option('--rounds') ?? 3)
  const seconds = Number(option('--seconds') ?? 4)
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

function report(lines: readonly Line[]): void {
  console.log(machine())
  console.log(
    '| scenario | nginx µs | sluice µs (min-max) | ratio | requests/s |\n| --- | --- | --- | --- | --- |',
  )
  for (const { name } of SCENARIOS) {
    const peer = lines.find((line) => line.scenario === name && line.contestant === 'nginx')!
    const ours = lines.find((line) => line.scenario === name && line.contestant === 'sluice')!
    const invalid = [...peer.rounds, ...ours.rounds].find((round) => round.invalid !== null)
    if (invalid !== undefined) console.log(`| ${name} | invalid: ${invalid.invalid} | | | |`)
    else console.log(row(name, peer.rounds, ours.rounds))
  }
}

function row(name: string, peer: readonly Round[], ours: readonly Round[]): string {
  const costs = ours.map((round) => round.cpuMicrosPerRequest).sort((a, b) => a - b)
  const nginx = median(peer.map((round) => round.cpuMicrosPerRequest))
  const sluice = median(costs)
  const spread = `${costs[0]!.toFixed(1)}-${costs.at(-1)!.toFixed(1)}`
  const rate = median(ours.map((round) => round.perSecond))
  return `| ${name} | ${nginx.toFixed(1)} | ${sluice.toFixed(1)} (${spread}) | ${(sluice / nginx).toFixed(2)} | ${rate} |`
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}

function machine(): string {
  return `${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} CPUs, Node.js ${process.versions.node}`
}

function option(name: string): string | null {
  const at = process.argv.indexOf(name)
  return at < 0 ? null : (process.argv[at + 1] ?? null)
}
