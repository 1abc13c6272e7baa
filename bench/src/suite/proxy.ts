import type { OriginBehavior, Scenario, Suite } from '../model/scenario.js'
import { ECHO, get, KB, PLAIN_ROUTES, post, SMALL_ANSWER, size } from './scenario-parts.js'

const COMMON = { tier: null, workers: 1, log: 'none', routes: PLAIN_ROUTES, isPlainProxy: true } as const
const GET: Scenario = { ...COMMON, id: 'get', title: 'GET', call: get(), origin: SMALL_ANSWER }

function postOf(kilobytes: number, origin: OriginBehavior): Scenario {
  const { bytes, id, title } = size(kilobytes * KB, kilobytes, 'KB')
  return { ...COMMON, id: `post-${id}`, title: `POST ${title}`, call: post(bytes), origin }
}

/** Seconds, to see that everything works; its figures are no results. */
export const smoke: Suite = {
  name: 'smoke',
  description: 'GET and POST 1 KB for some seconds: that everything works, and a first impression',
  reproduces: null,
  cases: [GET, postOf(1, ECHO)].map((scenario) => ({ scenario, connections: [16] })),
  warmUpSeconds: 1,
  seconds: 2,
  repetitions: 1,
}

/** `npm run bench`: CPU time of a request, answered with 128 bytes, beside nginx in the same run. */
export const proxy: Suite = {
  name: 'proxy',
  description: 'CPU time of a GET and of POST 1, 5 and 50 KB with small answers, for --with nginx',
  reproduces: null,
  cases: [GET, ...[1, 5, 50].map((kilobytes) => postOf(kilobytes, SMALL_ANSWER))].map((scenario) => ({
    scenario,
    connections: [64],
  })),
  warmUpSeconds: 2,
  seconds: 3,
  repetitions: 6,
}
