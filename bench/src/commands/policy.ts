import { usageError } from '@sluice/cli/kit'
import { suggestion } from '@sluice/config'
import type { Summary } from '../model/summary.js'
import { busyText, LEAST_PAIRS, policyCosts } from '../report/cost.js'
import { changeText, significant } from '../report/figures.js'
import { MEASURED_POLICIES, type PolicyPair, policyPair, policyText } from '../suite/policies.js'
import { suiteOf } from '../suite/suites.js'
import { measureAndReport } from './measuring.js'
import { chosenSuite, type MeasuringFlags, runOptions } from './run-options.js'

/** Many short pairs narrow the interval more than few long ones. Each has new processes, which must warm up. */
const PAIR_TIMES = { warmUpSeconds: 4, seconds: 4, repetitions: 16 }

/** `gw bench policy`: measures a request with and without a policy or a chain of policies. */
export async function benchPolicy(flags: MeasuringFlags, name: string): Promise<void> {
  const { base, withPolicy } = knownPair(name)
  if (Array.isArray(flags.rates))
    throw usageError('--rates: gw bench policy measures saturation only; use gw bench run policies')
  const all = chosenSuite(suiteOf('policies'), { ...flags, scenario: [withPolicy.id] })
  const cases = all.cases.map((one) => ({ ...one, base }))
  const suite = { ...all, cases, ...PAIR_TIMES }
  return measureAndReport(runOptions(suite, flags, []), flags, {
    isKept: true,
    remarks: (summary) => [costSentence(name, summary)],
  })
}

/** Returns the two scenarios of a policy or chain. @throws Failure for an unknown name, with a suggestion */
export function knownPair(name: string): PolicyPair {
  const pair = policyPair(name)
  if (pair !== null) return pair
  const hint = suggestion(name, MEASURED_POLICIES, `there are ${MEASURED_POLICIES.join(', ')}`)
  throw usageError(`there is no benchmark for the policy '${name}'; ${hint}`)
}

/** Describes the cost of a policy with its 95 % interval. */
export function costSentence(policy: string, { points }: Summary): string {
  const name = policyText(policy)
  const cost = policyCosts(points).find((one) => one.policy === policy)
  if (cost === undefined)
    return `${name}: the cost is unknown, because one point is missing or has no figures`
  const { base, addedMicros, interval } = cost
  const before = base.cpuMicrosPerRequest.mean
  if (interval !== null && interval[0] <= 0 && interval[1] >= 0)
    return `${name}: no measurable cost (below ${significant(Number(interval[1].toPrecision(2)))} µs of CPU time per request, 95 % interval ${intervalText(interval)}), on ${significant(before)} µs without it`
  const amount = `${addedMicros < 0 ? '−' : '+'}${Math.abs(addedMicros).toFixed(2)} µs (${changeText(addedMicros / before)}) of CPU time per request, on ${significant(before)} µs without it${busyText(base)}`
  if (interval === null)
    return `${name}: ${amount}; the error is unknown, use at least --repetitions ${LEAST_PAIRS}`
  return `${name}: ${amount}; 95 % interval ${intervalText(interval)}`
}

function intervalText([low, high]: readonly [number, number]): string {
  return `${low.toFixed(2).replace('-', '−')} to ${high.toFixed(2).replace('-', '−')} µs`
}
