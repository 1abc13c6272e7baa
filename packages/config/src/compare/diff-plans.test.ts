import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../plan/digest.js'
import { SAMPLE_CATALOG } from '../testing/sample-catalog.js'
import { loadOrThrow } from '../testing.js'
import { diffBundles, diffPlans, formatDiff } from './diff-plans.js'
import { differences } from './plan-difference.js'
import { totalCost } from './route-cost.js'

const BEFORE = `
version: 1
upstreams:
  a: { targets: [http://a:1, { url: http://b:1, weight: 2 }] }
  gone: { targets: [http://g:1] }
routes:
  - id: r
    match: { path: /r, methods: [GET, POST], hosts: [a.org, b.org], headers: { x: '1' } }
    upstream: a
    policies: [{ id: one, use: marker, with: { text: a } }, { id: two, use: marker }, { id: three, use: marker }]
  - { id: s, match: { path: /s }, respond: { body: hello } }
`

function lines(before: string | null, after: string, catalog = SAMPLE_CATALOG): string[] {
  const old = before === null ? null : loadOrThrow(before, SAMPLE_CATALOG).plan
  return formatDiff(diffPlans(old, loadOrThrow(after, SAMPLE_CATALOG).plan, catalog))
}

test('a reference with another value is a difference that does not show it', () => {
  const text = `
version: 1
routes:
  - { id: r, match: { path: /r }, respond: { body: "\${env:A} \${env:B}", headers: { x-a: "\${env:A}" } } }
  - { id: s, match: { path: /s }, respond: { body: { b: "\${env:B}" } } }
`
  const load = (A: string, B: string) => loadOrThrow(text, SAMPLE_CATALOG, { A, B })
  const reported = (a: string, b: string): string[] =>
    formatDiff(diffBundles(load('one', 'two'), load(a, b), SAMPLE_CATALOG))
  assert.deepEqual(reported('one', 'two'), [])
  assert.deepEqual(reported('one', 'other'), ['~ reference ${env:B}', '    value changed'])
  assert.equal(reported('other', 'other').length, 4)
  assert.ok(diffBundles(null, load('one', 'two'), SAMPLE_CATALOG).every(({ what }) => what !== 'reference'))
})

test('a changed path has the name that it has in the document', () => {
  const at = (path: string) =>
    loadOrThrow(`version: 1\nroutes: [{ id: r, match: { path: ${path} }, respond: {} }]\n`, SAMPLE_CATALOG)
  assert.deepEqual(formatDiff(diffBundles(at('/a'), at('/b'), SAMPLE_CATALOG)), [
    '~ route r',
    '    match.path: /a -> /b',
  ])
})

test('equal plans have no difference', () => {
  assert.deepEqual(lines(BEFORE, BEFORE), [])
})

test('without a plan before, everything is new', () => {
  assert.deepEqual(lines(null, BEFORE), [
    '+ listener 127.0.0.1:8080',
    '+ upstream a',
    '+ upstream gone',
    '+ route r',
    '    GET, POST on a.org, b.org, /r -> a',
    '    cost: unknown per request (marker not measured)',
    '+ route s',
    '    every method, /s -> respond',
    '+ admin',
    '+ workers',
    '+ log',
    '+ metrics',
    '+ drain',
    '+ overload',
  ])
})

test('the order of hosts, methods, targets, routes and keys means nothing', () => {
  const after = `
routes:
  - { id: s, match: { path: /s }, respond: { body: hello } }
  - id: r
    upstream: a
    match: { hosts: [b.org, a.org], headers: { X: '1' }, methods: [POST, GET], path: /r }
    policies: [{ id: one, use: marker, with: { text: a } }, { id: two, use: marker }, { id: three, use: marker }]
upstreams:
  gone: { targets: [http://g:1] }
  a: { targets: [{ weight: 2, url: http://b:1 }, http://a:1] }
version: 1
`
  assert.deepEqual(lines(BEFORE, after), [])
})

test('each setting that differs is named with both values', () => {
  const after = BEFORE.replace('weight: 2', 'weight: 3')
    .replace('http://a:1,', 'http://c:1,')
    .replace('[GET, POST]', '[GET, PUT]')
    .replace('text: a', 'text: b')
    .replace(/ {2}gone.*\n/, '')
    .replace('body: hello', 'body: bye')
  assert.deepEqual(lines(BEFORE, `${after}workers: 3\n`), [
    '~ upstream a',
    '    targets: + http://c:1',
    '    targets: - http://a:1',
    '    targets[http://b:1].weight: 2 -> 3',
    '~ route r',
    '    match.methods: + PUT',
    '    match.methods: - POST',
    '    policies[one].with.text: a -> b',
    '~ route s',
    '    action.body: hello -> bye',
    '~ workers',
    '    count: none -> 3',
    '- upstream gone',
  ])
})

test('targets of the log are reported by their names, those that come and go among them', () => {
  const withTargets = (...targets: readonly string[]): string =>
    `${BEFORE}log: { sink: none, outputs: [${targets.join(', ')}] }\n`
  const [a, b] = ['{ id: a, sink: stdout }', '{ id: b, sink: file, file: { dir: ./b } }']
  assert.deepEqual(lines(withTargets(), withTargets(a)), ['~ log', '    outputs: + a'])
  assert.deepEqual(lines(withTargets(a, b), withTargets(a)), ['~ log', '    outputs: - b'])
  const narrower = b.replace('id: b', 'id: b, fields: full, when: "res.status >= 500"')
  assert.deepEqual(lines(withTargets(a, b), withTargets(a, narrower)), [
    '~ log',
    '    outputs[b].fields: standard -> full',
    '    outputs[b].when: none -> res.status >= 500',
  ])
  assert.deepEqual(lines(withTargets(a, b), withTargets(b, a)), [])
})

test('items of a list that have no name, or share one, are compared as a whole', () => {
  const reported = (old: object, now: object) => differences({ old, now, oldShown: old, nowShown: now })
  assert.deepEqual(reported({ targets: [{ a: 1 }] }, { targets: [{ a: 2 }] }), [
    'targets: [{"a":1}] -> [{"a":2}]',
  ])
  const [one, two] = [
    { url: 'u', w: 1 },
    { url: 'u', w: 2 },
  ]
  assert.deepEqual(reported({ targets: [one, one] }, { targets: [one, two] }).length, 1)
})

test('without the catalog, settings of policies are named and not shown', () => {
  assert.deepEqual(lines(BEFORE, BEFORE.replace('text: a', 'text: b'), new Map()), [
    '~ route r',
    '    policies[one].with.text: changed',
  ])
})

test('the order of a chain is a difference', () => {
  const swapped = BEFORE.replace('id: two', 'id: x')
    .replace('id: three', 'id: two')
    .replace('id: x', 'id: three')
  assert.deepEqual(lines(BEFORE, swapped), ['~ route r', '    policies: one, two, three -> one, three, two'])
})

test('the order of routes is a difference where nothing else distinguishes them', () => {
  const regexes = [
    '- { id: a, match: { path: ~/a }, respond: {} }',
    '- { id: b, match: { path: ~/b }, respond: {} }',
  ]
  const [one, other] = [regexes, [...regexes].reverse()].map(
    (list) => `version: 1\nroutes:\n${list.join('\n')}\n`,
  )
  assert.deepEqual(lines(one!, other!), ['~ route b', '    order: 1 -> 0', '~ route a', '    order: 0 -> 1'])
})

test('the digest depends on the content and not on the order of keys', () => {
  const plan = loadOrThrow(BEFORE, SAMPLE_CATALOG).plan
  const reordered = Object.fromEntries(Object.entries(plan).reverse()) as unknown as typeof plan
  assert.match(digestOf(plan), /^[0-9a-f]{64}$/)
  assert.equal(digestOf(reordered), digestOf(plan))
  assert.notEqual(digestOf({ ...plan, workers: 7 }), digestOf(plan))
})

test('a change of what routes are parts of is reported for each of them, and for the environment by itself', () => {
  const text = (head: string) => `
version: 1
${head}
routes:
  - { id: r, api: orders, match: { path: /r }, respond: {} }
  - { id: s, match: { path: /s }, respond: {} }
`
  const before = text('apis: { orders: { revision: 6 } }')
  const after = text('environment: staging\napis: { orders: { group: sales, revision: 7 } }')
  assert.deepEqual(lines(before, after), [
    '~ route r',
    '    api.group: none -> sales',
    '    api.revision: 6 -> 7',
    '+ environment',
  ])
  assert.deepEqual(lines(after, after.replace('staging', 'production')), [
    '~ environment',
    '    name: staging -> production',
  ])
})

test('a change of a policy group is one of every route that names it', () => {
  const text = (steps: string): string => `
version: 1
policyGroups: { g: [${steps}] }
routes:
  - { id: r, match: { path: /r }, respond: {}, policies: [g] }
  - { id: s, match: { path: /s }, respond: {}, policies: [g] }
`
  const changed = lines(
    text('{ use: marker, with: { text: a } }'),
    text('{ use: marker, with: { text: b } }'),
  )
  assert.deepEqual(changed, [
    '~ route r',
    '    policies[g/1].with.text: a -> b',
    '~ route s',
    '    policies[g/1].with.text: a -> b',
  ])
  const added = lines(text('{ use: marker }'), text('{ use: marker }, { use: marker }'))
  assert.deepEqual(added.slice(0, 2), ['~ route r', '    policies: + g/2'])
})

test('a changed route has the measured cost of the policies that were added or removed', () => {
  const cost = { addedMicros: 1.2, requestMicros: 15, request: 'GET' }
  const catalog = Object.assign(new Map(SAMPLE_CATALOG), { measured: new Map([['marker', cost]]) })
  const without = BEFORE.replace(/ {4}policies: .*\n/, '')
  const costOf = (text: string) => lines(null, text, catalog).filter((line) => line.includes('cost: '))
  assert.deepEqual(costOf(BEFORE), ['    cost: +3.6 µs per request (marker 3.6)'])
  assert.equal(lines(BEFORE, without, catalog).at(-1), '    cost: -3.6 µs per request (marker -3.6)')
  assert.equal(
    lines(without, BEFORE, SAMPLE_CATALOG).at(-1),
    '    cost: unknown per request (marker not measured)',
  )
  assert.deepEqual(lines(BEFORE, BEFORE.replace('text: a', 'text: b'), catalog).length, 2)
  const plan = (text: string) => loadOrThrow(text, SAMPLE_CATALOG).plan
  assert.deepEqual(totalCost(diffPlans(plan(without), plan(BEFORE), catalog)), {
    routes: 1,
    addedMicros: 3.6,
    unmeasured: [],
  })
})
