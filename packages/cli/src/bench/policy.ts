import {
  areCostsAlike,
  busyText,
  hasCost,
  measuredPolicyNames,
  type Point,
  type PolicyPair,
  policyPair,
  policyText,
  type Summary,
  suiteOf,
} from '@sluice/bench'
import { suggestion } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { EXIT, Failure } from '../failure.js'
import { measure } from './measuring.js'
import { outcomeOf } from './run.js'
import { type LoadFlags, type MeasuringFlags, runOrder } from './run-order.js'
import type { BenchTools } from './tools.js'

/** `gw bench policy`: the same call without the policy and with it; a chain of policies is measured in the same way. */
export function benchPolicy(
  tools: BenchTools,
): (flags: LoadFlags & MeasuringFlags, name: string) => Promise<number> {
  return async (flags, name) => {
    const pair = knownPair(name)
    const ids = [pair.base.id, pair.withPolicy.id]
    const whole = suiteOf('policies')
    const suite = { ...whole, cases: whole.cases.filter(({ scenario }) => ids.includes(scenario.id)) }
    const outcome = {
      ...outcomeOf(flags),
      isKept: true,
      remarks: (summary: Summary) => [costSentence(name, pair, summary)],
    }
    return measure(tools, runOrder(tools, suite, flags, []), outcome)
  }
}

/** The two points of a policy or chain. @throws Failure of a name that has none, with what may have been meant. */
export function knownPair(name: string): PolicyPair {
  const pair = policyPair(name, catalog)
  if (pair !== null) return pair
  const names = measuredPolicyNames(catalog)
  const hint = suggestion(name, names, `there are ${names.join(', ')}`)
  throw new Failure(EXIT.usage, `no benchmark is there for a policy '${name}'; ${hint}`)
}

/** What the policy adds, beside the spread that the repetitions have anyway. */
export function costSentence(policy: string, pair: PolicyPair, summary: Summary): string {
  const name = policyText(policy)
  const base = saturationOf(pair.base.id, summary)
  const other = saturationOf(pair.withPolicy.id, summary)
  if (base === null || other === null)
    return `${name}: no cost can be told, because one of the two points is missing or no result`
  if (!areCostsAlike(base, other))
    return `${name}: no cost can be told, because the gateway used ${percentOf(base)} of its cores without it and ${percentOf(other)} with it, which changes what a request costs; measure with --saturation-engine wrk`
  const before = base.cpuMicrosPerRequest
  const after = other.cpuMicrosPerRequest
  const added = after.mean - before.mean
  const spread = before.stdev + after.stdev
  const percent = (100 * added) / before.mean
  const amount = `${signed(added, 2)} µs (${signed(percent, 1)} %) of CPU time a request, on ${before.mean.toFixed(1)} µs without it${busyText(base)}`
  if (Math.abs(added) > spread) return `${name}: ${amount}; the repetitions spread by ${spread.toFixed(2)} µs`
  return `${name}: ${amount}; that is within the spread of the repetitions (${spread.toFixed(2)} µs), so the cost is too small to tell here`
}

function saturationOf(scenario: string, { points }: Summary): Point | null {
  const found = points.find(
    (point) => point.scenario === scenario && point.contestant === 'sluice' && point.kind === 'saturation',
  )
  return found === undefined || !hasCost(found) ? null : found
}

function percentOf({ busyShare }: Point): string {
  return `${Math.round(busyShare * 100)} %`
}

function signed(value: number, digits: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(digits)}`
}
