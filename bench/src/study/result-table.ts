import { type Estimate, median } from '../statistics.js'
import type { PolicyCost } from './policy-cost.js'
import type { Round } from './round.js'

/** The rounds of one contestant in one scenario. */
export interface Line {
  readonly scenario: string
  readonly contestant: string
  readonly rounds: readonly Round[]
}

const HEAD = [
  ['scenario', 'nginx µs (min-max)', 'sluice µs (min-max)', 'ratio', 'supervisor µs', 'requests/s', 'busy'],
  ['---', '---', '---', '---', '---', '---', '---'],
]

/** A Markdown table: medians over the rounds, nginx beside the gateway. A scenario with a wrong answer has no figures. */
export function resultTable(lines: readonly Line[]): string {
  const scenarios = [...new Set(lines.map((line) => line.scenario))]
  return [...HEAD, ...scenarios.map((scenario) => row(scenario, lines))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

/** What the policy adds to a request, as a sentence. */
export function policySentence(cost: PolicyCost): string {
  if (cost.invalid !== null) return `header policy: invalid: ${cost.invalid}`
  const { added, control, baseMicros, rounds, requests } = cost
  return (
    `header policy, one field each way: ${range(added)} of a GET of ${baseMicros.toFixed(1)} µs; a path without it, ` +
    `measured alike: ${range(control)} (${rounds} rounds, ${requests} requests)`
  )
}

function range({ value, low, high }: Estimate): string {
  return `${signed(value)} % (95 %: ${signed(low)} to ${signed(high)})`
}

function row(scenario: string, lines: readonly Line[]): string[] {
  const peer = roundsOf('nginx', scenario, lines)
  const ours = roundsOf('sluice', scenario, lines)
  const invalid = [...peer, ...ours].find((round) => round.invalid !== null)
  if (invalid !== undefined) return [scenario, `invalid: ${invalid.invalid}`, '', '', '', '', '']
  // Rounds of both in turn: each is compared with its neighbour, which ran on the same machine, as busy as it was then.
  const ratio = median(ours.map((round, i) => cost(round) / cost(peer[i]!)))
  return [
    scenario,
    spread(peer),
    spread(ours),
    ratio.toFixed(2),
    median(ours.map((round) => round.supervisorMicrosPerRequest)).toFixed(2),
    String(median(ours.map((round) => round.perSecond))),
    `${Math.round(100 * median(ours.map((round) => round.busyShare)))} %`,
  ]
}

function roundsOf(contestant: string, scenario: string, lines: readonly Line[]): readonly Round[] {
  return lines.find((line) => line.contestant === contestant && line.scenario === scenario)?.rounds ?? []
}

function cost(round: Round): number {
  return round.cpuMicrosPerRequest
}

function spread(rounds: readonly Round[]): string {
  const costs = rounds.map(cost)
  return `${median(costs).toFixed(1)} (${Math.min(...costs).toFixed(1)}-${Math.max(...costs).toFixed(1)})`
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(1)}`
}
