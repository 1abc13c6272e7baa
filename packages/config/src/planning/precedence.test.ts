import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { RoutePlan } from '../plan/plan.js'
import { bestRank, compareRanks, routeRank } from '../plan/route-rank.js'
import { loadOrThrow } from '../testing.js'
import { inPrecedence } from './precedence.js'

const HOSTS = ['', 'hosts: [a.org]', "hosts: ['*.org', a.org]", 'hosts: [b.org, a.org]', "hosts: ['*.a.org']"]
const PATHS = ['', 'path: /a', "path: '/{x}'", "path: '/{y}'", 'path: /a/*', 'path: ~/a', 'path: ~/b']
const MORE = ['', 'methods: [GET]', 'methods: [PUT]', 'when: \'req.method == "GET"\'']

function planOf(match: readonly string[]): RoutePlan {
  const written = match.filter((part) => part !== '').join(', ')
  const document = `{ version: 1, routes: [{ id: r, match: { ${written} }, respond: {} }] }`
  return loadOrThrow(document, new Map()).plan.routes[0]!
}

const POOL = HOSTS.flatMap((host) => PATHS.flatMap((path) => MORE.map((more) => planOf([host, path, more]))))

/** Routes in the order of the document; ids name where they stood. */
const documents = fc
  .array(fc.constantFrom(...POOL), { maxLength: 12 })
  .map((plans) => plans.map((plan, i) => ({ ...plan, id: String(i) })))

/** The rank without what the position in the document decides. */
function rankApart(route: RoutePlan, host: string | null): string {
  return JSON.stringify(routeRank({ ...route, order: 0 }, host))
}

function hostsOf(route: RoutePlan): readonly (string | null)[] {
  return route.match.hosts.length === 0 ? [null] : route.match.hosts
}

function samePaths(a: RoutePlan, b: RoutePlan): boolean {
  const key = (route: RoutePlan) =>
    JSON.stringify(
      route.match.path.segments.map((segment) => (segment.kind === 'param' ? null : segment.text)),
    )
  return a.match.path.kind === 'regex' || key(a) === key(b)
}

test('of routes that nothing else distinguishes the one that was written first wins, on every host they share', () => {
  fc.assert(
    fc.property(documents, (routes) => {
      const planned = inPrecedence(routes).toSorted((a, b) => Number(a.id) - Number(b.id))
      for (const [i, first] of planned.entries()) {
        for (const second of planned.slice(i + 1)) {
          for (const host of hostsOf(first).filter((one) => hostsOf(second).includes(one))) {
            if (rankApart(first, host) !== rankApart(second, host) || !samePaths(first, second)) continue
            assert.ok(compareRanks(routeRank(first, host), routeRank(second, host)) < 0)
          }
        }
      }
    }),
  )
})

test('the routes of a plan stand in the order of their ranks, and none is lost', () => {
  fc.assert(
    fc.property(documents, (routes) => {
      const planned = inPrecedence(routes)
      for (const [i, route] of planned.slice(1).entries())
        assert.ok(compareRanks(bestRank(planned[i]!), bestRank(route)) <= 0)
      assert.deepEqual(planned.map(({ id }) => id).toSorted(), routes.map(({ id }) => id).toSorted())
    }),
  )
})

test('a route that something distinguishes from all others has no order', () => {
  const planned = inPrecedence([POOL[0]!, planOf(['path: /a']), planOf(['path: /a', 'methods: [GET]'])])
  assert.deepEqual(
    planned.map(({ order }) => order),
    [0, 0, 0],
  )
})
