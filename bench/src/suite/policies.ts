import type { GeneratedBody, Scenario, Suite, SuiteCase } from '../model/scenario.js'
import { POLICY_FIXTURES, type PolicyFixture } from './policy-fixtures.js'
import { get, KB, post, scenario, size, withPolicies } from './scenario-parts.js'

/** Chains that are common in production, in execution order. */
const CHAINS: readonly (readonly string[])[] = [
  ['api-key', 'body-limit', 'header'],
  ['ip-filter', 'basic-auth', 'header'],
  ['ip-filter', 'api-key', 'body-limit', 'header'],
]
const PREFIX = 'chain-'

/** Returns a readable name: that of a policy, or the policies of a chain. */
export function policyText(name: string): string {
  if (!name.startsWith(PREFIX)) return name
  const chain = CHAINS.find((policies) => PREFIX + policies.join('-') === name)
  // The policies of a chain from another version are unknown.
  return `chain ${chain?.join(', ') ?? name.slice(PREFIX.length)}`
}

/** Subject of a comparison: nothing, one policy, or a chain. */
interface Subject {
  readonly name: string
  readonly title: string
  readonly fixtures: readonly PolicyFixture[]
  /** Kind of its bodies, or null if it does not read bodies. */
  readonly kind: GeneratedBody['kind'] | null
}

/** Variant of a request: its body size, and the delay of the origin. */
interface Variant {
  readonly kilobytes: number | null
  readonly delayMs: number
}

/** Connections that keep one worker busy while most of them wait, without a queue that hides costs. */
const CONNECTIONS = new Map([
  [0, 64],
  [10, 512],
  [100, 4000],
])

const BASES: readonly Subject[] = (['json', 'xml'] as const).map((kind) => ({
  ...{ name: 'base', title: 'no policy', fixtures: [], kind },
}))
const SUBJECTS: readonly Subject[] = [
  ...[...POLICY_FIXTURES].map(([name, fixture]) => ({
    ...{ name, title: name, fixtures: [fixture], kind: fixture.body },
  })),
  ...CHAINS.map((names) => ({
    name: PREFIX + names.join('-'),
    title: `chain ${names[0]} +${names.length - 1}`,
    fixtures: names.map((name) => POLICY_FIXTURES.get(name)!),
    kind: 'json' as const,
  })),
]

const cases: readonly SuiteCase[] = [
  caseOf({ ...BASES[0]!, kind: null }, { kilobytes: null, delayMs: 0 }),
  ...[...BASES, ...SUBJECTS].map((subject) => caseOf(subject, usual(subject))),
]
const ids = new Set(cases.map(({ scenario: { id } }) => id))

/** Every policy with a fixture, then chains, beside the same request without policies. The rest are variants. */
export const policies: Suite = {
  name: 'policies',
  description:
    'what each policy adds to a request: every policy alone and in three chains, and the same call without one',
  reproduces: null,
  cases,
  variants: [{ ...BASES[0]!, kind: null }, BASES[1]!, ...SUBJECTS]
    .flatMap((subject) => variantsOf(subject).map((variant) => caseOf(subject, variant)))
    .filter(({ scenario: { id } }) => !ids.has(id)),
  warmUpSeconds: 10,
  seconds: 60,
  repetitions: 5,
}

/** Scenarios without and with a policy or chain. */
export interface PolicyPair {
  readonly base: Scenario
  readonly withPolicy: Scenario
}

/** Returns the scenarios of a policy or chain, or null. */
export function policyPair(name: string): PolicyPair | null {
  const subject = SUBJECTS.find((one) => one.name === name)
  if (subject === undefined) return null
  const base = { ...BASES[0]!, kind: subject.kind }
  return { base: scenarioOf(base, usual(subject)), withPolicy: scenarioOf(subject, usual(subject)) }
}

/** Names that `policyPair` knows. */
export const MEASURED_POLICIES: readonly string[] = SUBJECTS.map(({ name }) => name)

function usual({ kind }: Subject): Variant {
  return { kilobytes: kind === null ? null : 1, delayMs: 0 }
}

function variantsOf({ kind }: Subject): Variant[] {
  const sizes = kind === null ? [null, 1, 5, 50] : [1, 5, 50]
  return [...CONNECTIONS.keys()].flatMap((delayMs) => sizes.map((kilobytes) => ({ kilobytes, delayMs })))
}

function caseOf(subject: Subject, variant: Variant): SuiteCase {
  return { scenario: scenarioOf(subject, variant), connections: [CONNECTIONS.get(variant.delayMs)!] }
}

function scenarioOf({ name, title, fixtures, kind }: Subject, { kilobytes, delayMs }: Variant): Scenario {
  const headers: Record<string, string> = Object.assign({}, ...fixtures.map((fixture) => fixture.headers))
  const request = requestOf(kilobytes, kind ?? 'json', name === 'base', headers)
  const isSlow = delayMs > 0
  const made = scenario(
    `${name}-${request.id}${isSlow ? `-delay-${delayMs}ms` : ''}`,
    `${request.title}${isSlow ? `, ${delayMs} ms` : ''}, ${title}`,
    request.call,
    withPolicies(fixtures.map(({ use }) => use)),
  )
  return { ...made, origin: { ...made.origin, delayMs } }
}

/** The kind of a body stands in the name only where nothing else says it. */
function requestOf(
  kilobytes: number | null,
  kind: GeneratedBody['kind'],
  isBase: boolean,
  headers: PolicyFixture['headers'],
) {
  if (kilobytes === null) return { id: 'get', title: 'GET', call: get('/', headers) }
  const { bytes, id, title } = size(kilobytes * KB, kilobytes, 'KB')
  const [idEnd, titleEnd] = isBase && kind !== 'json' ? [`-${kind}`, ` of ${kind.toUpperCase()}`] : ['', '']
  const call = post({ kind, bytes }, '/', headers)
  return { id: `post-${id}${idEnd}`, title: `POST ${title}${titleEnd}`, call }
}
