import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packBundle, type RoutePlan } from '@sluice/config'
import type { Policy } from '@sluice/core'
import { catalog } from '@sluice/policies'
import { exampleUses, schemaMistakes } from '@sluice/policies/testing'
import { bundleOf, startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

test('each policy goes on through a change of another route, and closes once when its route is removed', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.end('{}'))
  const compiled: string[] = []
  const closed: string[] = []
  const noting = (policy: Policy): Policy => ({
    ...policy,
    compile(settings, env, use) {
      compiled.push(use!.id)
      env.onClose(() => closed.push(use!.id))
      return policy.compile(settings, env, use)
    },
  })
  const noted = new Map([...catalog].map(([name, policy]) => [name, noting(policy)]))
  const uses = [...catalog.values()].flatMap((policy) =>
    exampleUses(policy).map((use, i) => {
      // Adds the defaults.
      assert.deepEqual(schemaMistakes(policy, use.with), [])
      return { ...use, id: `${policy.name}-${i}`, when: null, onError: 'fail' as const }
    }),
  )
  const ids = uses.map(({ id }) => id).sort()
  const routes = uses.map((use) => routeAt(use.id, { policies: [use] }))
  const deploy = async (others: readonly Route[], changed: string): Promise<void> => {
    const overrides = { upstreams: [{ urls: [origin.url] }], routes: [...others, routeAt(changed, {})] }
    await (await gateway.plane.prepare(packBundle(bundleOf(overrides)))).activate()
  }
  const answers = async (): Promise<string[]> => {
    const lines: string[] = []
    for (const id of ids) {
      const { status, headers } = await fetch(`${gateway.url}/${id}`, { redirect: 'manual' })
      lines.push(`${id}: ${status} ${[...headers.keys()].join()}`)
    }
    return lines
  }
  const gateway = await startGateway(t, {}, { catalog: noted })

  await deploy(routes, 'first')
  const before = await answers()
  await deploy(routes, 'second')
  assert.deepEqual(await answers(), before)
  assert.deepEqual(compiled.splice(0).sort(), ids)
  assert.deepEqual(closed, [])

  await deploy([], 'second')
  assert.deepEqual(closed.splice(0).sort(), ids)
  await deploy(routes, 'second')
  assert.deepEqual(compiled.sort(), ids)
  assert.deepEqual(await answers(), before)
})

test('a policy keeps what it has counted through a change of another route', async (t) => {
  const origin = await httpOrigin(t, (_, res) => res.end())
  const settings = { limit: ['2/h'], key: 'client.ip' }
  const use = { id: 'limit', use: 'rate-limit', with: settings, when: null, onError: 'fail' as const }
  const gateway = await startGateway(t, {}, { catalog })
  const statuses: number[] = []
  for (const changed of ['a', 'b', 'c']) {
    const routes = [routeAt('limited', { policies: [use] }), routeAt(changed, {})]
    const bundle = packBundle(bundleOf({ upstreams: [{ urls: [origin.url] }], routes }))
    await (await gateway.plane.prepare(bundle)).activate()
    statuses.push((await fetch(`${gateway.url}/limited`)).status)
  }
  assert.deepEqual(statuses, [200, 200, 429])
})

type Route = Partial<RoutePlan> & { readonly id: string }

/** Returns a route whose path is its id. */
function routeAt(id: string, route: Partial<RoutePlan>): Route {
  const segments = [{ kind: 'literal' as const, text: id }]
  const path = { text: `/${id}`, kind: 'exact' as const, segments }
  return {
    ...route,
    id,
    order: 0,
    match: { hosts: [], path, methods: [], headers: [], query: [], when: null },
  }
}
