import { maskedPath } from '../lib/masking.js'
import type { Call, Suite } from '../model/scenario.js'
import { SMALL_ANSWER, scenario } from './scenario-parts.js'

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

const TITLE_LENGTH = 40
const URL_CONNECTIONS = 64

/** Returns a suite with one request to a running server. Its title is in every report. */
export function urlSuite(call: Call): Suite {
  const title = `${call.method} ${maskedPath(call.path)}`.slice(0, TITLE_LENGTH)
  const target = scenario('target', title, call, { origin: SMALL_ANSWER })
  return {
    name: 'url',
    description: 'one call of a server that is running already',
    reproduces: null,
    cases: [{ scenario: target, connections: [URL_CONNECTIONS] }],
    warmUpSeconds: 5,
    seconds: 20,
    repetitions: 3,
  }
}
