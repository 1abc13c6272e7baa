import { usageError } from '@sluice/cli/kit'
import { suggestion } from '@sluice/config'
import type { Summary } from '../model/summary.js'
import { busyText, policyCosts } from '../report/cost.js'
import { changeText, significant } from '../report/figures.js'
import { MEASURED_POLICIES, type PolicyPair, policyPair, policyText } from '../suite/policies.js'
import { suiteOf } from '../suite/suites.js'
import { measureAndReport } from './measuring.js'
import { chosenSuite, type MeasuringFlags, runOptions } from './run-options.js'

/** `gw bench policy`: measures a request with and without a policy or a chain of policies. */
export async function benchPolicy(flags: MeasuringFlags, name: string): Promise<void> {
  const { base, withPolicy } = knownPair(name)
  const suite = chosenSuite(suiteOf('policies'), { ...flags, scenario: [base.id, withPolicy.id] })
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

/** Describes the cost of a policy and the spread of the repetitions. */
export function costSentence(policy: string, { points }: Summary): string {
  const name = policyText(policy)
  const cost = policyCosts(points).find((one) => one.policy === policy)
  if (cost === undefined)
    return `${name}: the cost is unknown, because one point is missing or not valid, or CPU use differed between the two`
  const { base, withPolicy, addedMicros, range } = cost
  const before = base.cpuMicrosPerRequest.mean
  const amount = `${addedMicros < 0 ? '' : '+'}${addedMicros.toFixed(2)} µs (${changeText(addedMicros / before)}) of CPU time a request, on ${significant(before)} µs without it${busyText(base)}`
  const spread = base.cpuMicrosPerRequest.stdev + withPolicy.cpuMicrosPerRequest.stdev
  if (Math.abs(addedMicros) > spread)
    return `${name}: ${amount}; the repetitions allow ${significant(range[0])} to ${significant(range[1])} µs`
  return `${name}: ${amount}; that is within the spread of the repetitions, so the cost is too small to report here`
}
