import type { Scenario, Suite } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { ECHO, get, KB, LOGS, PLAIN_ROUTES, post, SMALL_ANSWER, size } from './scenario-parts.js'

/** The tiers of the report, and the numbers of connections it has for each. */
const TIERS: readonly { readonly tier: Tier; readonly workers: number; readonly connections: number[] }[] = [
  { tier: 'W1', workers: 1, connections: [100, 250, 500] },
  { tier: 'W2', workers: 2, connections: [250, 500, 750, 1000] },
  { tier: 'W4', workers: 4, connections: [250, 500, 1000, 2000] },
  { tier: 'W8', workers: 8, connections: [250, 500, 1000, 2000, 3000, 4000] },
]

const SIZES = [size(KB, 1, 'KB'), size(5 * KB, 5, 'KB')]

const CALLS = [
  { id: 'get', title: 'GET', call: get(), origin: SMALL_ANSWER },
  ...SIZES.map(({ bytes, id, title }) => ({
    id: `post-${id}`,
    title: `POST ${title}`,
    call: post(bytes),
    origin: ECHO,
  })),
]

/** The Apinizer report of 2026: tiers, requests, and the traffic log in Elasticsearch or off; no policy. */
export const apinizer: Suite = {
  name: 'apinizer',
  description:
    'tiers W1 to W8, traffic log off and in Elasticsearch, GET, POST 1 KB and POST 5 KB, no policy',
  reproduces: 'Apinizer API gateway benchmark, version 8 (March 2026)',
  cases: TIERS.flatMap(({ tier, workers, connections }) =>
    LOGS.flatMap(({ log, id: logId, title: logTitle }) =>
      CALLS.map(({ id, title, call, origin }) => {
        const scenario: Scenario = {
          id: `${tier.toLowerCase()}-${id}${logId}`,
          title: `${tier} ${title}${logTitle}`,
          tier,
          workers,
          log,
          call,
          origin,
          routes: PLAIN_ROUTES,
          isPlainProxy: log === 'none',
        }
        return { scenario, connections }
      }),
    ),
  ),
  warmUpSeconds: 30,
  seconds: 300,
  repetitions: 3,
}
