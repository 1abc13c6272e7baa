import type { Suite, TrialPlan } from '@sluice/bench'
import { EXIT, Failure } from '../failure.js'
import {
  type ChoiceFlags,
  chosenNames,
  type LoadFlags,
  type MeasuringFlags,
  type RunOrder,
  runOrder,
  type TargetFlags,
} from './run-order.js'
import type { BenchTools } from './tools.js'

type TrialFlags = LoadFlags & MeasuringFlags & ChoiceFlags & TargetFlags

/** The load of a trial in percent of what was measured at saturation, when nothing else is asked for. */
const USUAL_LOAD = [60]
const MOST_LOAD = 95
const QUICK_SECONDS = 6
const QUICK_WARM_UP_SECONDS = 1
/** What is for points; a trial has its own gateway, is carried out once, and loads it as much as its figures say. */
const FOR_POINTS = ['with', 'tier', 'slo', 'repetitions', 'target', 'pid'] as const

/** The order of a run of trials. @throws Failure when something is asked for that trials do not have. */
export function trialsOrder(tools: BenchTools, suite: Suite, flags: TrialFlags): RunOrder {
  const alone = FOR_POINTS.find((name) => flags[name] !== undefined)
  if (alone !== undefined)
    throw new Failure(
      EXIT.usage,
      `--${alone} is not for the trials of '${suite.name}'; choose them with --scenario, their load with --rates`,
    )
  checkLoad(flags)
  const { scenario: wanted = [], connections } = flags
  const trials = chosenTrials(suite, wanted).map((plan) => ({
    ...plan,
    connections: connections?.[0] ?? plan.connections,
  }))
  const chosen = { ...suite, trials, ...(flags.quick === true ? quickTimes(suite) : {}) }
  // Trials need one load that is always there, so that what the engine can do of rates is no matter.
  const order = runOrder(tools, chosen, { ...flags, rates: false, scenario: [] }, [])
  const rates = flags.rates === undefined || flags.rates === false ? USUAL_LOAD : flags.rates
  return {
    ...order,
    rateShares: rates.map((percent) => percent / 100),
    scenarios: wanted.length === 0 ? [] : trials.map(({ id }) => id),
  }
}

function checkLoad({ rates, connections }: TrialFlags): void {
  if (rates === false)
    throw new Failure(EXIT.usage, '--no-rates is not for trials: each has a load; write --rates 60')
  const [rate = 0, ...more] = rates ?? USUAL_LOAD
  if (more.length > 0 || rate > MOST_LOAD)
    throw new Failure(
      EXIT.usage,
      `--rates: a trial has one load of at most ${MOST_LOAD} %, such as --rates 60`,
    )
  if (connections !== undefined && connections.length > 1)
    throw new Failure(EXIT.usage, '--connections: a trial has one number of connections, such as 128')
}

function chosenTrials({ name, trials = [] }: Suite, wanted: readonly string[]): readonly TrialPlan[] {
  const ids = chosenNames(
    name,
    trials.map(({ id }) => id),
    wanted,
  )
  return trials.filter(({ id }) => ids.includes(id))
}

function quickTimes(suite: Suite): Pick<Suite, 'seconds' | 'warmUpSeconds'> {
  return {
    seconds: Math.min(suite.seconds, QUICK_SECONDS),
    warmUpSeconds: Math.min(suite.warmUpSeconds, QUICK_WARM_UP_SECONDS),
  }
}
