import type { Scenario, Suite } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { TIER_CONNECTIONS } from './apinizer.js'
import { get, KB, type NamedSize, post, scenario, size } from './scenario-parts.js'

const PATH = '/v1/cache/bench/value'

/** Sizes of values. The report does not name them; the goals use 1 KB. */
const SIZES = [1, 10].map((kilobytes) => size(kilobytes * KB, kilobytes, 'KB'))

/** Requests to a cache server. The origin gives the same response, so that the ceiling can be measured. */
function cached(tier: Tier, method: 'GET' | 'PUT', { bytes, id, title }: NamedSize): Scenario {
  const call = method === 'GET' ? get(PATH) : { ...post(bytes, PATH), method }
  const origin = { answer: 'fixed', bytes: method === 'GET' ? bytes : 0, delayMs: 0 } as const
  const name = `${tier}-${method}${bytes === KB ? '' : `-${id}`}`.toLowerCase()
  return scenario(name, `${tier} ${method} ${title}`, call, {
    ...{ tier, origin, system: 'cache-server', isPlainProxy: false },
  })
}

/** The cache part of the Apinizer report of 2026, with the connections of its gateway part. */
export const apinizerCache: Suite = {
  name: 'apinizer-cache',
  description:
    'tiers W1 to W8 of gw cache-server, GET and PUT of 1 and 10 KB, beside Redis where it is installed',
  reproduces: 'Apinizer cache component benchmark, version 1 (March 2026)',
  cases: TIER_CONNECTIONS.flatMap(([tier, connections]) =>
    SIZES.flatMap((one) =>
      (['GET', 'PUT'] as const).map((method) => ({ scenario: cached(tier, method, one), connections })),
    ),
  ),
  warmUpSeconds: 30,
  seconds: 300,
  repetitions: 1,
}
