import { maskedPath } from '../masking.js'
import type { Call, Scenario, Suite } from '../model/scenario.js'
import { SMALL_ANSWER } from './scenario-parts.js'

const TITLE_LENGTH = 40
const CONNECTIONS = 64

/** One call, asked of a server that somebody else has started. Its title is in every report. */
export function urlSuite(call: Call): Suite {
  const scenario: Scenario = {
    id: 'target',
    title: `${call.method} ${maskedPath(call.path)}`.slice(0, TITLE_LENGTH),
    ...{ tier: null, workers: 1, log: 'none', call, origin: SMALL_ANSWER, routes: [], isPlainProxy: true },
  }
  return {
    name: 'url',
    description: 'one call of a server that is running already',
    reproduces: null,
    cases: [{ scenario, connections: [CONNECTIONS] }],
    warmUpSeconds: 5,
    seconds: 20,
    repetitions: 3,
  }
}
