import type { Suite } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { get, KB, post, scenario, size } from './scenario-parts.js'

/** Tiers of the report with their numbers of connections. */
export const TIER_CONNECTIONS: readonly (readonly [tier: Tier, connections: readonly number[]])[] = [
  ['W1', [100, 250, 500]],
  ['W2', [250, 500, 750, 1000]],
  ['W4', [250, 500, 1000, 2000]],
  ['W8', [250, 500, 1000, 2000, 3000, 4000]],
]

const SIZES = [size(KB, 1, 'KB'), size(5 * KB, 5, 'KB')]
const CALLS = [
  { id: 'get', title: 'GET', call: get() },
  ...SIZES.map(({ bytes, id, title }) => ({ id: `post-${id}`, title: `POST ${title}`, call: post(bytes) })),
]
const LOGS = [
  { log: 'none', logId: '', logTitle: '' },
  { log: 'elasticsearch', logId: '-elasticsearch', logTitle: ', Elasticsearch' },
] as const

/** The Apinizer report of 2026: tiers, requests, and the traffic log off or in Elasticsearch, without policies. */
export const apinizer: Suite = {
  name: 'apinizer',
  description:
    'tiers W1 to W8, traffic log off and in Elasticsearch, GET, POST 1 KB and POST 5 KB, no policy',
  reproduces: 'Apinizer API gateway benchmark, version 8 (March 2026)',
  cases: TIER_CONNECTIONS.flatMap(([tier, connections]) =>
    LOGS.flatMap(({ log, logId, logTitle }) =>
      CALLS.map(({ id, title, call }) => ({
        scenario: scenario(`${tier.toLowerCase()}-${id}${logId}`, `${tier} ${title}${logTitle}`, call, {
          ...{ tier, log, isPlainProxy: log === 'none' },
        }),
        connections,
      })),
    ),
  ),
  warmUpSeconds: 30,
  seconds: 300,
  repetitions: 3,
}
