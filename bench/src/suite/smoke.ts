import type { Scenario, Suite } from '../model/scenario.js'
import { ECHO, get, KB, PLAIN_ROUTES, post, SMALL_ANSWER } from './scenario-parts.js'

const COMMON = { tier: null, workers: 1, log: 'none', routes: PLAIN_ROUTES, peers: 'plain-proxy' } as const

const SCENARIOS: readonly Scenario[] = [
  { ...COMMON, id: 'get', title: 'GET', call: get(), origin: SMALL_ANSWER },
  { ...COMMON, id: 'post-1kb', title: 'POST 1 KB', call: post(KB), origin: ECHO },
]

/** Seconds, to see that everything works; its figures are no results. */
export const smoke: Suite = {
  name: 'smoke',
  description: 'GET and POST 1 KB for some seconds: that everything works, and a first impression',
  reproduces: null,
  cases: SCENARIOS.map((scenario) => ({ scenario, connections: [16] })),
  warmUpSeconds: 1,
  seconds: 2,
  repetitions: 1,
}
