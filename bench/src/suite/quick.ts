import type { Suite } from '../model/scenario.js'

const SECONDS = 3
const WARM_UP_SECONDS = 1
/** Enough to saturate a worker, and every suite has a number near it. */
const CONNECTIONS = 100

/** A suite cut down to a first impression: every scenario once, for seconds, at one number of connections. */
export function quickSuite(suite: Suite): Suite {
  return {
    ...suite,
    cases: suite.cases.map(({ scenario, connections }) => ({
      scenario,
      connections: [nearest(connections, CONNECTIONS)],
    })),
    warmUpSeconds: Math.min(suite.warmUpSeconds, WARM_UP_SECONDS),
    seconds: Math.min(suite.seconds, SECONDS),
    repetitions: 1,
  }
}

function nearest(numbers: readonly number[], wanted: number): number {
  return numbers.reduce((best, number) =>
    Math.abs(number - wanted) < Math.abs(best - wanted) ? number : best,
  )
}
