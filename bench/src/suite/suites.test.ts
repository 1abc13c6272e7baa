import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatDiagnostic, type LoadResult, loadDocument } from '@sluice/config'
import { explainRequest } from '@sluice/gateway'
import { catalog, hashKey, verifyPassword } from '@sluice/policies'
import { bodyOf } from '../engine/call-body.js'
import type { Scenario, Suite, SuiteCase } from '../model/scenario.js'
import type { Point } from '../model/summary.js'
import { policyRelation } from '../report/relations.js'
import { distinctCalls } from '../testing/distinct-calls.js'
import { MEASURED_POLICIES, policyPair, policyText } from './policies.js'
import { POLICY_FIXTURES } from './policy-fixtures.js'
import { API_KEY, API_KEY_SHA256, PASSWORD, PASSWORD_HASH } from './policy-keys.js'
import { quickSuite } from './quick.js'
import { suiteOf, suites } from './suites.js'

const ORIGIN = 'http://127.0.0.1:8080'

/** Loads routes as a gateway would that has an upstream `origin` and no traffic log. */
function loadRoutes(routes: readonly object[]): LoadResult {
  const document = {
    version: 1,
    listeners: [{ address: '127.0.0.1:8080' }],
    upstreams: { origin: { targets: ['http://127.0.0.1:9000'] } },
    routes,
    log: { sink: 'none' },
  }
  return loadDocument({ text: JSON.stringify(document), name: 'benchmark' }, { catalog, env: {} })
}

function scenariosOf(name: string): Scenario[] {
  return suiteOf(name).cases.map(({ scenario }) => scenario)
}

function withVariants({ cases, variants = [] }: Suite): SuiteCase[] {
  return [...cases, ...variants]
}

for (const suite of suites) {
  test(`every scenario of ${suite.name} loads without a remark, and a route takes its call to the origin`, async () => {
    for (const scenario of distinctCalls(withVariants(suite).map(({ scenario }) => scenario))) {
      const result = loadRoutes(scenario.routes)
      const remarks = result.ok ? result.warnings : result.diagnostics
      assert.deepEqual(remarks.map(formatDiagnostic), [], scenario.id)
      assert.ok(result.ok)
      const { method, path, headers, body } = scenario.call
      const explanation = await explainRequest(result.bundle, catalog, {
        method,
        url: `${ORIGIN}${path}`,
        headers: Object.entries(headers),
        body: body === null ? null : bodyOf(body),
        clientIp: '127.0.0.1',
      })
      const action = explanation.route?.action
      assert.ok(action !== undefined && 'upstream' in action, scenario.id)
    }
  })

  test(`${suite.name} has scenarios with ids and titles of their own, and connections in rising order`, () => {
    const cases = withVariants(suite)
    const ids = cases.map(({ scenario }) => scenario.id)
    assert.equal(new Set(ids).size, ids.length)
    assert.ok(ids.length > 0 || suite.trials !== undefined)
    for (const { scenario, connections } of cases) {
      assert.match(scenario.id, /^[a-z0-9]+(-[a-z0-9]+)*$/)
      assert.ok(scenario.title.length <= 40, scenario.title)
      assert.ok(connections.length > 0)
      assert.deepEqual(
        [...new Set(connections)].sort((a, b) => a - b),
        connections,
      )
    }
    assert.equal(new Set(cases.map(({ scenario }) => scenario.title)).size, ids.length)
  })

  test(`a quick ${suite.name} asks each of its scenarios once, at numbers of connections that it has`, () => {
    const quick = quickSuite(suite)
    assert.deepEqual(
      quick.cases.map(({ scenario }) => scenario.id),
      suite.cases.map(({ scenario }) => scenario.id),
    )
    for (const [i, { connections }] of quick.cases.entries()) {
      assert.equal(connections.length, 1)
      assert.ok(suite.cases[i]!.connections.includes(connections[0]!))
    }
    assert.ok(quick.seconds + quick.warmUpSeconds <= 4)
    assert.equal(quick.repetitions, 1)
  })
}

test('every trial has an id and a title of its own', () => {
  const trials = suites.flatMap((suite) => suite.trials ?? [])
  for (const { id, title } of trials) {
    assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/)
    assert.ok(title.length <= 40, title)
  }
  assert.equal(new Set(trials.map(({ title }) => title)).size, trials.length)
  assert.equal(new Set(trials.map(({ id }) => id)).size, trials.length)
})

test('the suites have the matrix of the reports that they repeat', () => {
  const points = (name: string): number =>
    suiteOf(name).cases.reduce((sum, { connections }) => sum + connections.length, 0)
  assert.equal(points('apinizer'), (3 + 4 + 4 + 6) * 3 * 2)
  assert.equal(points('apinizer-cache'), (3 + 4 + 4 + 6) * 2 * 2)
  assert.equal(points('wso2-platform'), 2 * 4 * 2 * 6)
  assert.equal(points('apinizer-classic'), 4 + 3 + 3 + (7 + 6 + 5) + (8 + 6 + 5) + 2 * (9 + 9 + 7))
  assert.ok(points('wso2-mi') >= 2 * 4 * 4)
  assert.ok(scenariosOf('wso2-platform').every(({ routes }) => routes.length === 8))
})

test('the credentials of the calls are those of the documents', async () => {
  assert.ok(await verifyPassword(PASSWORD, PASSWORD_HASH))
  assert.equal(hashKey(API_KEY), API_KEY_SHA256)
})

test('every policy with a fixture is measured alone, header first, beside the same call without one', () => {
  assert.deepEqual(
    [...POLICY_FIXTURES.values()].filter(({ use }) => !catalog.has(use.use)),
    [],
  )
  const ids = scenariosOf('policies').map(({ id }) => id)
  const first = ids.filter((id) => !id.startsWith('base-'))[0]
  assert.deepEqual([ids[0], ids[1], first], ['base-get', 'base-post-1kb', 'header-get'])
  for (const name of MEASURED_POLICIES) {
    const { base, withPolicy } = policyPair(name)!
    assert.ok(ids.includes(base.id) && ids.includes(withPolicy.id), name)
    assert.equal(base.call.method, withPolicy.call.method)
    assert.deepEqual(base.call.body, withPolicy.call.body)
  }
  assert.equal(policyPair('no-such-policy'), null)
})

test('the chains are measured with the calls that every policy in them lets through', () => {
  const chains = scenariosOf('policies').filter(({ id }) => id.startsWith('chain-'))
  const names = chains.map(({ routes }) =>
    (routes as { policies: { use: string }[] }[])[0]!.policies.map(({ use }) => use),
  )
  assert.deepEqual(names, [
    ['api-key', 'body-limit', 'header'],
    ['ip-filter', 'basic-auth', 'header'],
    ['ip-filter', 'api-key', 'body-limit', 'header'],
  ])
})

test('every policy and chain has variants with larger bodies and slower origins, each beside its base', () => {
  const { cases, variants = [] } = suiteOf('policies')
  const all = [...cases, ...variants].map(({ scenario }) => scenario)
  const ids = new Set(all.map(({ id }) => id))
  for (const name of MEASURED_POLICIES)
    for (const body of ['1kb', '5kb', '50kb'])
      for (const delay of ['', '-delay-10ms', '-delay-100ms'])
        for (const id of [name, 'base']) assert.ok(ids.has(`${id}-post-${body}${delay}`), id)
  const slow = variants.find(({ scenario }) => scenario.id === 'api-key-get-delay-100ms')!
  assert.deepEqual([slow.scenario.origin.delayMs, slow.connections], [100, [4000]])
  const large = variants.find(({ scenario }) => scenario.id === 'header-post-50kb')!
  assert.deepEqual([large.scenario.call.body?.bytes, large.connections], [51_200, [64]])
})

test('a chain is named for people by its policies', () => {
  const chain = MEASURED_POLICIES.find((name) => name.startsWith('chain-ip-filter-b'))!
  assert.equal(policyText(chain), 'chain ip-filter, basic-auth, header')
  assert.equal(policyText('chain-of-old'), 'chain of-old')
  assert.equal(policyText('ip-filter'), 'ip-filter')
})

test('a name that is no suite is answered with the names, the likely one first', () => {
  assert.throws(
    () => suiteOf('apinzer'),
    /^Error: there is no suite 'apinzer'; did you mean 'apinizer'\? \(there are smoke, proxy, /,
  )
  assert.throws(() => suiteOf('nonsense'), /; there are smoke, proxy, .*policies, soak, chaos$/)
})

test('every scenario with a policy has the same one without it, of the same kind of body', () => {
  const all = withVariants(suiteOf('policies'))
  const scenarios = new Map(all.map(({ scenario }) => [scenario.id, scenario]))
  let compared = 0
  for (const scenario of scenarios.values()) {
    const relation = policyRelation({ suite: 'policies', scenario: scenario.id } as Point)
    if (relation === null || relation.policy.startsWith('chain')) continue
    compared++
    assert.deepEqual(scenarios.get(relation.base)?.call.body, scenario.call.body, scenario.id)
  }
  assert.ok(compared > 27, `${compared} were compared`)
})

test('the table of the documentation holds every suite', () => {
  const text = readFileSync(new URL('../../../docs/guides/benchmarks.md', import.meta.url), 'utf8')
  const table = text.split('## The suites\n')[1]!.split('\n\n')[0]!
  const names = [...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name)
  const known = suites.map(({ name }) => name)
  assert.deepEqual(names.toSorted(), known.toSorted())
})
