import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planOf, startGateway, until } from '../testing/gateway.js'
import { connectRaw } from '../testing/raw-connection.js'
import { affordableConnections, descriptorLimit, divideDescriptors } from './descriptor-budget.js'

const PLAN = planOf({
  upstreams: [{ urls: ['http://127.0.0.1:1'], connections: 256 }],
  listener: { limits: { connections: 10_000 } },
})

test('this process knows how many descriptors it may have open', () => {
  assert.ok(descriptorLimit() > 0)
})

test('the shares of clients, bodies, upstreams and the process stay below the limit', () => {
  for (const limit of [64, 256, 1024, 4096, 65_536]) {
    const { clients, bodies } = divideDescriptors(limit, PLAN)
    assert.ok(clients >= limit / 4, `${clients} of ${limit}`)
    assert.ok(clients + bodies < limit)
  }
  assert.equal(divideDescriptors(1024, PLAN).clients, 1024 - 128 - 128 - 256)
})

test('listeners get their connections if descriptors suffice, otherwise a share', () => {
  const two = { ...PLAN, listeners: [PLAN.listeners[0]!, PLAN.listeners[0]!] }
  const budget = { clients: 1000, bodies: 0 }
  assert.equal(affordableConnections(10_000, PLAN, { clients: 10_000, bodies: 0 }), 10_000)
  assert.equal(affordableConnections(10_000, PLAN, budget), 1000)
  assert.equal(affordableConnections(10_000, two, budget), 500)
})

test('limits.connections beyond the available descriptors are reported', async (t) => {
  const gateway = await startGateway(
    t,
    { listener: { limits: { connections: 10_000 } }, routes: [] },
    { descriptors: 1024 },
  )
  const [reported, ...rest] = gateway.events
  assert.equal(reported?.event, 'connections_lowered')
  const { wanted, connections, descriptors } = reported.fields as Record<string, number>
  assert.deepEqual([wanted, connections, descriptors], [10_000, 1024 - 128 - 128, 1024])
  assert.deepEqual(rest, [])
})

test('one client address cannot use up scarce descriptors', async (t) => {
  const limits = { connections: 10_000, connectionsPerClient: 2500 }
  const gateway = await startGateway(t, { listener: { limits }, routes: [] }, { descriptors: 256 })
  const clients = await Promise.all(
    Array.from({ length: 100 }, () => connectRaw(t, gateway.port, '127.0.0.1')),
  )
  const isKept = (): boolean[] => clients.map(({ isClosed }) => !isClosed)
  await until(() => isKept().filter(Boolean).length === gateway.plane.connections)
  assert.equal(gateway.plane.connections, Math.floor((2500 * (256 - 64 - 32)) / 10_000))
})
