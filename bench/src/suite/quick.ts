import type { Suite } from '../model/scenario.js'

const SECONDS = 3
const WARM_UP_SECONDS = 1
/** Enough connections to saturate a worker. Every suite has a number near it. */
const CONNECTIONS = 100

/** Returns a reduced suite: every scenario once, for seconds, at one number of connections. */
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
