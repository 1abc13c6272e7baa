import type { Contestant } from './contestant.js'
import { type Round, runRound } from './round.js'
import { median, quantile } from './statistics.js'

/** What a policy adds to the CPU time of a request: quartiles over pairs of rounds with and without it. */
export interface PolicyCost {
  readonly pairs: number
  readonly addedPercent: { readonly low: number; readonly middle: number; readonly high: number }
  /** Null when the figures count, else why not. */
  readonly invalid: string | null
}

const ROUND_S = 1
/** Of one length, and both answered by the same worker, so that the policy is all that differs. */
const WITHOUT = { name: 'without', path: '/get', bodyBytes: 0 }
const WITH = { name: 'with', path: '/set', bodyBytes: 0 }

/**
 * Short rounds with and without the policy. Each pair is compared within itself and every second one runs the other way
 * round, so that a machine that gets slower or faster in between favours neither.
 */
export function comparePolicy(gateway: Contestant, pairs: number, dir: string): PolicyCost {
  const added: number[] = []
  const rounds: Round[] = []
  for (let i = 0; i < pairs; i++) {
    const order = i % 2 === 0 ? [WITHOUT, WITH] : [WITH, WITHOUT]
    const [first, second] = order.map((scenario) => runRound(gateway, scenario, ROUND_S, dir)) as [
      Round,
      Round,
    ]
    const [without, withPolicy] = i % 2 === 0 ? [first, second] : [second, first]
    rounds.push(first, second)
    added.push(100 * (withPolicy.cpuMicrosPerRequest / without.cpuMicrosPerRequest - 1))
  }
  return {
    pairs,
    addedPercent: { low: quantile(added, 0.25), middle: median(added), high: quantile(added, 0.75) },
    invalid: rounds.find((round) => round.invalid !== null)?.invalid ?? null,
  }
}
