import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadOrThrow } from '../testing.js'
import { bestRank, compareRanks, routeRank } from './route-rank.js'

function route(match: string, more = '') {
  return loadOrThrow(
    `{ version: 1, routes: [{ id: r, match: { ${match} }, respond: {}, ${more} }] }`,
    new Map(),
  ).plan.routes[0]!
}

/** Whether each wins over the one after it on the hosts given. */
function assertDescending(...ranks: readonly (readonly number[])[]): void {
  for (const [i, rank] of ranks.slice(1).entries()) assert.ok(compareRanks(ranks[i]!, rank) < 0, `${i} loses`)
}

test('priority comes before everything', () => {
  const high = route("hosts: ['*.a.org'], path: ~/", 'priority: 1')
  const low = route('hosts: [x.a.org], path: /x, methods: [GET]')
  assertDescending(routeRank(high, '*.a.org'), routeRank(low, 'x.a.org'))
})

test('the host comes before the path', () => {
  const one = route("hosts: [x.eu.a.org, '*.eu.a.org', '*.a.org'], path: ~/")
  const every = route('path: /x')
  const [exact, longer, shorter] = ['x.eu.a.org', '*.eu.a.org', '*.a.org'].map((host) => routeRank(one, host))
  assertDescending(exact!, longer!, shorter!, routeRank(every, null))
  assert.deepEqual(bestRank(one), exact)
})

test('the path comes before the other predicates, and those come last', () => {
  const paths = [
    'path: /a/b',
    "path: '/a/{x}'",
    "path: '/{x}/b'",
    'path: /a/b/*',
    "path: '/a/{x}/*'",
    'path: /a/*',
    'path: ~/a',
    '',
  ]
  assertDescending(...paths.map((path) => routeRank(route(path), null)))
  const predicates = [
    "path: /a, methods: [GET], headers: { a: '1' }, query: { b: '2' }, when: 'req.method == \"GET\"'",
    "path: /a, headers: { a: '1', b: '2' }",
    'path: /a, methods: [GET, PUT]',
    'path: /a',
  ]
  assertDescending(...predicates.map((match) => routeRank(route(match), null)))
})
