import type { Catalog } from '@sluice/core'
import type { MadeBody, Scenario, Suite, SuiteCase } from '../model/scenario.js'
import { POLICY_FIXTURES, type PolicyFixture } from './policy-fixtures.js'
import { ECHO, get, KB, type NamedSize, PLAIN_ROUTES, post, SMALL_ANSWER, size } from './scenario-parts.js'

/** What stands together in front of real services, in the order in which it runs. */
const CHAINS: readonly (readonly string[])[] = [
  ['api-key', 'body-limit', 'header'],
  ['ip-filter', 'basic-auth', 'header'],
  ['ip-filter', 'api-key', 'body-limit', 'header'],
]

const PREFIX = 'chain-'

/** The name of a chain beside those of policies, such as `chain-ip-filter-basic-auth-header`. */
function chainName(policies: readonly string[]): string {
  return PREFIX + policies.join('-')
}

/** A name for people: that of a policy as it is, that of a chain with its policies apart. */
export function policyText(name: string): string {
  if (!name.startsWith(PREFIX)) return name
  const chain = CHAINS.find((policies) => chainName(policies) === name)
  // Where the names of policies meet cannot be told of a chain that another version measured.
  return `chain ${chain?.join(', ') ?? name.slice(PREFIX.length)}`
}

/** What is compared with each other: nothing, one policy, or a chain of them. */
interface Subject {
  readonly name: string
  readonly title: string
  readonly fixtures: readonly PolicyFixture[]
  /** What its bodies are; null: it works on none. */
  readonly body: MadeBody['kind'] | null
}

/** How it is asked. */
interface Variant {
  /** Null: a GET. */
  readonly body: NamedBody | null
  readonly delay: Delay
}

interface NamedBody extends NamedSize {
  readonly kind: MadeBody['kind']
}

/** Of the origin, with the connections that keep one worker busy though most of them wait. */
interface Delay {
  readonly millis: number
  readonly connections: number
}

/** Enough connections to keep one worker busy, few enough that no queue hides what a policy costs. */
const AT_ONCE: Delay = { millis: 0, connections: 64 }
const DELAYS: readonly Delay[] = [
  AT_ONCE,
  { millis: 10, connections: 512 },
  { millis: 100, connections: 4000 },
]
const SIZES = [size(KB, 1, 'KB'), size(5 * KB, 5, 'KB'), size(50 * KB, 50, 'KB')]
const GET: Variant = { body: null, delay: AT_ONCE }

/** What a scenario with a policy is compared with. */
const BASE: Subject = { name: 'base', title: 'no policy', fixtures: [], body: null }

/** The scenarios that tell what one policy costs, or a chain of them. */
export interface PolicyPair {
  readonly base: Scenario
  readonly withPolicy: Scenario
}

/**
 * One scenario without a policy for each kind of call, then every policy of the catalog that has a fixture, alone, then the
 * chains. Larger bodies and slower origins are variants.
 */
export function policiesSuite(catalog: Catalog): Suite {
  const subjects = subjectsOf(catalog)
  const cases = [
    caseOf(BASE, GET),
    ...kindsOf(subjects).map((kind) => caseOf(BASE, smallPost(kind))),
    ...subjects.map((one) => caseOf(one, usualVariant(one))),
  ]
  const usual = new Set(cases.map(({ scenario }) => scenario.id))
  return {
    name: 'policies',
    description:
      'what each policy adds to a request: every policy alone and in three chains, and the same call without one',
    reproduces: null,
    cases,
    variants: [BASE, ...otherBases(subjects), ...subjects]
      .flatMap((subject) => variantsOf(subject).map((variant) => caseOf(subject, variant)))
      .filter(({ scenario }) => !usual.has(scenario.id)),
    warmUpSeconds: 10,
    seconds: 60,
    repetitions: 5,
  }
}

/** The two scenarios of a policy or chain; null: it has no fixture, or is not in this version. */
export function policyPair(name: string, catalog: Catalog): PolicyPair | null {
  const subject = subjectsOf(catalog).find((one) => one.name === name)
  if (subject === undefined) return null
  const variant = usualVariant(subject)
  return { base: scenarioOf(BASE, variant), withPolicy: scenarioOf(subject, variant) }
}

/** The names that `policyPair` knows. */
export function measuredPolicyNames(catalog: Catalog): string[] {
  return subjectsOf(catalog).map(({ name }) => name)
}

/** Policies alone, then chains of which none is missing. */
function subjectsOf(catalog: Catalog): Subject[] {
  const fixtures = new Map([...POLICY_FIXTURES].filter(([name]) => catalog.has(name)))
  const alone = [...fixtures].map(([name, fixture]) => {
    return { name, title: name, fixtures: [fixture], body: fixture.body }
  })
  const chains = CHAINS.filter((names) => names.every((name) => fixtures.has(name))).map((names) => ({
    name: chainName(names),
    title: `chain ${names[0]} +${names.length - 1}`,
    fixtures: names.map((name) => fixtures.get(name)!),
    body: 'json' as const,
  }))
  return [...alone, ...chains]
}

function usualVariant({ body }: Subject): Variant {
  return body === null ? GET : smallPost(body)
}

/** The kinds of bodies that policies work on, the usual one first. */
function kindsOf(subjects: readonly Subject[]): MadeBody['kind'][] {
  return [...new Set(['json' as const, ...subjects.flatMap(({ body }) => (body === null ? [] : [body]))])]
}

/** What scenarios with bodies that are no JSON are compared with. */
function otherBases(subjects: readonly Subject[]): Subject[] {
  return kindsOf(subjects)
    .filter((kind) => kind !== 'json')
    .map((body) => ({ ...BASE, body }))
}

function smallPost(kind: MadeBody['kind']): Variant {
  return { body: { ...SIZES[0]!, kind }, delay: AT_ONCE }
}

function variantsOf({ body }: Subject): Variant[] {
  const posts = SIZES.map((named) => ({ ...named, kind: body ?? ('json' as const) }))
  const bodies = body === null ? [null, ...posts] : posts
  return DELAYS.flatMap((delay) => bodies.map((body) => ({ body, delay })))
}

/** The kind of a body stands in the name only where there is nothing else that tells it. */
function requestName({ id, title, kind }: NamedBody, isBase: boolean): { id: string; title: string } {
  if (kind === 'json' || !isBase) return { id: `post-${id}`, title: `POST ${title}` }
  return { id: `post-${id}-${kind}`, title: `POST ${title} of ${kind.toUpperCase()}` }
}

function caseOf(subject: Subject, variant: Variant): SuiteCase {
  return { scenario: scenarioOf(subject, variant), connections: [variant.delay.connections] }
}

function scenarioOf({ name, title, fixtures }: Subject, { body, delay }: Variant): Scenario {
  const headers = Object.assign({}, ...fixtures.map((fixture) => fixture.headers)) as PolicyFixture['headers']
  const policies = fixtures.length === 0 ? {} : { policies: fixtures.map(({ use }) => use) }
  const isSlow = delay.millis > 0
  const request = body === null ? { id: 'get', title: 'GET' } : requestName(body, fixtures.length === 0)
  return {
    id: `${name}-${request.id}${isSlow ? `-delay-${delay.millis}ms` : ''}`,
    title: `${request.title}${isSlow ? `, ${delay.millis} ms` : ''}, ${title}`,
    tier: null,
    workers: 1,
    log: 'none',
    call: body === null ? get('/', headers) : post(body, '/', headers),
    origin: { ...(body === null ? SMALL_ANSWER : ECHO), delayMs: delay.millis },
    routes: PLAIN_ROUTES.map((route) => ({ ...route, ...policies })),
    isPlainProxy: fixtures.length === 0,
  }
}
