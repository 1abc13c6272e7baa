import { ceilingSeconds, LEAD_IN_SECONDS } from '../measure/case-run.js'
import { systemCount } from '../measure/setup.js'
import type { RunOptions } from '../model/run.js'

type Times = Pick<RunOptions, 'suite' | 'peers' | 'warmUpSeconds' | 'seconds' | 'repetitions'> &
  Pick<RunOptions, 'coolDownSeconds' | 'rateShares'>

/** Returns the load time of a run in seconds, without starting and stopping. */
export function loadSeconds(times: Times): number {
  const { suite, peers, warmUpSeconds, seconds, repetitions, coolDownSeconds, rateShares } = times
  const groups = 1 + rateShares.length
  const loads = repetitions * groups
  // Each system is warmed up once per number of connections, and the ceiling is measured once.
  const ofSystem = warmUpSeconds + loads * seconds
  const ofAll = LEAD_IN_SECONDS + ceilingSeconds(seconds) + groups * coolDownSeconds
  const cases = suite.cases.reduce(
    (sum, one) => sum + one.connections.length * (systemCount({ ...one, peers }) * ofSystem + ofAll),
    0,
  )
  return cases + (suite.trials ?? []).length * (warmUpSeconds + seconds)
}
