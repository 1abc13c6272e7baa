import type { Scenario, Suite } from '../model/scenario.js'
import { get, KB, post, SMALL_ANSWER, scenario, size, withPolicies } from './scenario-parts.js'

const GET = scenario('get', 'GET', get())

function postOf(kilobytes: number, changes: Partial<Scenario> = {}): Scenario {
  const { bytes, id, title } = size(kilobytes * KB, kilobytes, 'KB')
  return scenario(`post-${id}`, `POST ${title}`, post(bytes), changes)
}

/** Cache hits, compared with the caches of peers. */
const CACHED: Partial<Scenario> = {
  ...withPolicies([{ use: 'response-cache', with: { forced: { ttl: '10m' } } }]),
  ...{ isPlainProxy: true, isCached: true },
}
const CACHE_HITS = [
  scenario('cached-get', 'GET, cached', get(), CACHED),
  scenario('cached-get-node', 'GET, cached, engine node', get(), { ...CACHED, engine: 'node' }),
]

/** A few seconds, to check that everything works. Its figures are not valid. */
export const smoke: Suite = {
  name: 'smoke',
  description: 'GET and POST 1 KB for some seconds: that everything works, and a first impression',
  reproduces: null,
  cases: [GET, postOf(1)].map((one) => ({ scenario: one, connections: [16] })),
  warmUpSeconds: 1,
  seconds: 2,
  repetitions: 1,
}

/** `npm run bench`: CPU time per request with responses of 128 bytes, beside nginx. */
export const proxy: Suite = {
  name: 'proxy',
  description: 'CPU time of a GET and of POST 1, 5 and 50 KB with small answers, for --with nginx',
  reproduces: null,
  cases: [GET, ...[1, 5, 50].map((kilobytes) => postOf(kilobytes, { origin: SMALL_ANSWER }))].map((one) => ({
    scenario: one,
    connections: [64],
  })),
  variants: CACHE_HITS.map((one) => ({ scenario: one, connections: [64] })),
  warmUpSeconds: 2,
  seconds: 3,
  repetitions: 6,
}
