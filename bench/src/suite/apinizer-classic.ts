import type { Call, OriginBehavior, Scenario, Suite } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { API_KEY, BASIC_AUTH, BASIC_HEADERS, HEADER_BOTH_WAYS, POLICY_FIXTURES } from './policy-fixtures.js'
import { ECHO, get, KB, PLAIN_ROUTES, post, SMALL_ANSWER, size } from './scenario-parts.js'

type Fields = Readonly<Record<string, string>>

/** One of the calls of the report. */
interface Request {
  readonly id: 'get' | 'post-5kb' | 'post-50kb'
  readonly title: string
  readonly origin: OriginBehavior
  call(headers: Fields): Call
}

const REQUESTS: readonly Request[] = [
  { id: 'get', title: 'GET', origin: SMALL_ANSWER, call: (headers) => get('/', headers) },
  ...[size(5 * KB, 5, 'KB'), size(50 * KB, 50, 'KB')].map(({ bytes, id, title }) => ({
    id: `post-${id}` as 'post-5kb' | 'post-50kb',
    title: `POST ${title}`,
    origin: ECHO,
    call: (headers: Fields) => post(bytes, '/', headers),
  })),
]

/** A configuration of the gateway, with the numbers of connections that the report has for each call. */
interface Condition {
  readonly id: string
  readonly title: string
  readonly tier: Tier
  readonly workers: number
  readonly headers: Fields
  readonly policies: readonly object[]
  readonly connections: Readonly<Record<Request['id'], readonly number[]>>
}

const STEPS = [50, 100, 250, 500, 1000, 1500, 2000, 4000, 8000]
const upTo = (most: number): readonly number[] => STEPS.filter((step) => step <= most)

/** The one of a policy that the report's condition calls for. */
const use = (name: string): object => POLICY_FIXTURES.get(name)!.use

/**
 * The report names its conditions by words only: minimal without policies, medium with basic ones, advanced with
 * several, and optimised, which its runs with Basic authentication begin from. Sizes and policies here are our reading.
 */
const CONDITIONS: readonly Condition[] = [
  {
    id: 'a',
    title: 'A (minimal)',
    tier: 'W1',
    workers: 1,
    headers: {},
    policies: [],
    connections: { get: upTo(500), 'post-5kb': upTo(250), 'post-50kb': upTo(250) },
  },
  {
    id: 'b',
    title: 'B (basic policies)',
    tier: 'W2',
    workers: 2,
    headers: {},
    policies: [HEADER_BOTH_WAYS, use('body-limit')],
    connections: { get: upTo(2000), 'post-5kb': upTo(1500), 'post-50kb': upTo(1000) },
  },
  {
    id: 'c',
    title: 'C (several policies)',
    tier: 'W4',
    workers: 4,
    headers: { 'x-api-key': API_KEY },
    policies: [use('ip-filter'), use('api-key'), use('body-limit'), HEADER_BOTH_WAYS],
    connections: { get: upTo(4000), 'post-5kb': upTo(1500), 'post-50kb': upTo(1000) },
  },
  {
    id: 'd',
    title: 'D (optimised)',
    tier: 'W8',
    workers: 8,
    headers: {},
    policies: [],
    connections: { get: upTo(8000), 'post-5kb': upTo(8000), 'post-50kb': upTo(2000) },
  },
  {
    id: 'd-basic-auth',
    title: 'D with Basic auth',
    tier: 'W8',
    workers: 8,
    headers: BASIC_HEADERS,
    policies: [BASIC_AUTH],
    connections: { get: upTo(8000), 'post-5kb': upTo(8000), 'post-50kb': upTo(2000) },
  },
]

/** The older Apinizer report: configurations A to D, 50 to 8,000 connections, Basic authentication off and on. */
export const apinizerClassic: Suite = {
  name: 'apinizer-classic',
  description:
    'configurations A to D, GET, POST 5 KB and POST 50 KB, 50 to 8,000 connections, Basic auth off and on',
  reproduces: 'Apinizer load test results (the older report, JMeter and NGINX)',
  cases: CONDITIONS.flatMap((condition) =>
    REQUESTS.map((request) => ({
      scenario: scenarioOf(condition, request),
      connections: condition.connections[request.id],
    })),
  ),
  warmUpSeconds: 30,
  seconds: 180,
  repetitions: 3,
}

function scenarioOf(condition: Condition, request: Request): Scenario {
  const { policies } = condition
  const more = policies.length === 0 ? {} : { policies }
  return {
    id: `${condition.id}-${request.id}`,
    title: `${condition.title}: ${request.title}`,
    tier: condition.tier,
    workers: condition.workers,
    log: 'none',
    call: request.call(condition.headers),
    origin: request.origin,
    routes: PLAIN_ROUTES.map((route) => ({ ...route, ...more })),
    isPlainProxy: policies.length === 0,
  }
}
