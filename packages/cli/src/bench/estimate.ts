import { ceilingSeconds, KNEE_STEPS, LEAD_IN_SECONDS, type Suite } from '@sluice/bench'
import { ageText, countText } from '../output/text.js'

/** What is known of a run before it begins. */
export interface RunSize {
  readonly scenarios: number
  /** Scenarios times numbers of connections. */
  readonly points: number
  readonly seconds: number
}

interface Times {
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly repetitions: number
  /** How many rates besides saturation. */
  readonly rates: number
  /** Whether the highest rate within a limit is searched for. */
  readonly hasKnee: boolean
  readonly peers: number
  /** Behind the points of each number of connections and rate; absent: none. */
  readonly coolDownSeconds?: number
  /** Different load generators: the ceiling is measured with each. */
  readonly engines: number
}

/** The load alone; starting and stopping what is measured comes on top. */
export function runSize(suite: Suite, times: Times): RunSize {
  const { warmUpSeconds, seconds, repetitions, rates, hasKnee, peers, engines, coolDownSeconds = 0 } = times
  const count = (list: Suite['cases']): number =>
    list.reduce((sum, { connections }) => sum + connections.length, 0)
  if (suite.trials !== undefined) return trialsSize(suite, times)
  const points = count(suite.cases)
  const ofPeers = peers * count(suite.cases.filter(({ scenario }) => scenario.peers !== null))
  const ceilings = rates > 0 || hasKnee ? engines : 1
  const loads = repetitions * (1 + rates) + (hasKnee ? KNEE_STEPS : 0)
  return {
    scenarios: suite.cases.length,
    points,
    // Everybody is warmed up once for all loads with a number of connections, and the ceiling is the same for all.
    seconds:
      (points + ofPeers) * (warmUpSeconds + loads * seconds) +
      points * (ceilings * (LEAD_IN_SECONDS + ceilingSeconds(seconds)) + (1 + rates) * coolDownSeconds),
  }
}

/** `chaos: 8 trials, about 9m 20s of load`. */
export function trialsText(suite: Suite, times: Pick<Times, 'warmUpSeconds' | 'seconds'>): string {
  const { scenarios, seconds } = trialsSize(suite, times)
  return `${suite.name}: ${countText(scenarios, 'trial')}, about ${ageText(seconds * 1000)} of load`
}

/** A trial is none of the points that are compared. */
function trialsSize({ trials = [] }: Suite, times: Pick<Times, 'warmUpSeconds' | 'seconds'>): RunSize {
  return {
    scenarios: trials.length,
    points: 0,
    seconds: trials.length * (times.warmUpSeconds + times.seconds),
  }
}
