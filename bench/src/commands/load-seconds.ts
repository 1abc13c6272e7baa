import { ceilingSeconds, LEAD_IN_SECONDS } from '../measure/case-run.js'
import { systemCount } from '../measure/setup.js'
import type { RunOptions } from '../model/run.js'

type Times = Pick<RunOptions, 'suite' | 'peers' | 'warmUpSeconds' | 'seconds' | 'repetitions'> &
  Pick<RunOptions, 'coolDownSeconds' | 'rateShares'>

/** How long the load of a run takes; starting and stopping what is measured comes on top. */
export function loadSeconds(times: Times): number {
  const { suite, peers, warmUpSeconds, seconds, repetitions, coolDownSeconds, rateShares } = times
  const groups = 1 + rateShares.length
  const loads = repetitions * groups
  // Everybody is warmed up once for all loads with a number of connections, and the ceiling is the same for all.
  const ofSystem = warmUpSeconds + loads * seconds
  const ofAll = LEAD_IN_SECONDS + ceilingSeconds(seconds) + groups * coolDownSeconds
  const cases = suite.cases.reduce(
    (sum, { scenario, connections }) =>
      sum + connections.length * (systemCount({ scenario, peers }) * ofSystem + ofAll),
    0,
  )
  return cases + (suite.trials ?? []).length * (warmUpSeconds + seconds)
}
