import { maskedPath } from '../lib/masking.js'
import type { Call, Suite } from '../model/scenario.js'
import { SMALL_ANSWER, scenario } from './scenario-parts.js'

const TITLE_LENGTH = 40
const CONNECTIONS = 64

/** Returns a suite with one request to a running server. Its title is in every report. */
export function urlSuite(call: Call): Suite {
  const title = `${call.method} ${maskedPath(call.path)}`.slice(0, TITLE_LENGTH)
  const target = scenario('target', title, call, { origin: SMALL_ANSWER })
  return {
    name: 'url',
    description: 'one call of a server that is running already',
    reproduces: null,
    cases: [{ scenario: target, connections: [CONNECTIONS] }],
    warmUpSeconds: 5,
    seconds: 20,
    repetitions: 3,
  }
}
