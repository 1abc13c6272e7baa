import assert from 'node:assert/strict'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { UpstreamPlan } from '@sluice/config'
import { startGateway, type TestGateway, until } from '../testing/gateway.js'
import { type NameAnswer, NameServer } from '../testing/name-server.js'
import { descriptors, usedBytes } from '../testing/process-state.js'
import { TRANSPORTS } from '../testing/transports.js'

// Names followed in the background: a name server on a local port, and targets at loopback addresses.

const NAME = 'orders.test'

interface Host {
  requests: number
  /** Connections that are open now. */
  open: number
}

/** Answers with its own address, after a delay. */
async function hostAt(t: TestContext, address: string, port: number, delayMs = 0): Promise<Host> {
  const host: Host = { requests: 0, open: 0 }
  const server = http.createServer((_, res) => {
    host.requests++
    setTimeout(() => res.end(`${address} ${port}`), delayMs)
  })
  server.on('connection', (socket) => {
    host.open++
    socket.on('close', () => host.open--)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, resolve)
  })
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return host
}

/** A port that is free at several loopback addresses. */
async function sharedPort(t: TestContext): Promise<number> {
  const server = net.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.9', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

interface Followed {
  readonly gateway: TestGateway
  readonly names: NameServer
  /** The body of a response. */
  ask(): Promise<string>
}

/** A gateway whose target is a name or a service, queried every 50 ms. */
async function following(
  t: TestContext,
  names: Readonly<Record<string, NameAnswer>>,
  { port = 80, ...overrides }: Partial<UpstreamPlan> & { readonly port?: number; readonly srv?: string },
): Promise<Followed> {
  const server = await NameServer.start(t, names)
  const { srv = null, ...plan } = overrides
  const target = { url: `http://${NAME}:${port}`, srv, weight: 1, role: 'primary' as const, priority: 1 }
  const resolve = { servers: [server.address], minTtlMs: 20, maxTtlMs: 50 }
  const gateway = await startGateway(t, { upstreams: [{ urls: [], targets: [target], resolve, ...plan }] })
  const ask = async (): Promise<string> => {
    const response = await fetch(gateway.url, { method: 'POST', body: 'once' })
    return response.status === 200 ? await response.text() : `status ${response.status}`
  }
  return { gateway, names: server, ask }
}

/** True if the gateway has this many target addresses. */
function hasTargets(gateway: TestGateway, count: number): boolean {
  const active = gateway.plane.samples().filter(({ name }) => name === 'gw_upstream_active')
  return active.length === count && active.every(({ labels }) => labels.includes('address='))
}

for (const transport of TRANSPORTS) {
  test(`${transport}: all addresses of a name are used equally`, async (t) => {
    const port = await sharedPort(t)
    const hosts = [await hostAt(t, '127.0.0.2', port), await hostAt(t, '127.0.0.3', port)]
    const answer = { addresses: ['127.0.0.2', '127.0.0.3'] }
    const { gateway, ask } = await following(t, { [NAME]: answer }, { port, transport })
    await until(() => hasTargets(gateway, 2))
    for (let i = 0; i < 10; i++) await ask()
    assert.deepEqual(
      hosts.map(({ requests }) => requests),
      [5, 5],
    )
  })

  test(`${transport}: a removed address is left without a failed request, and its connections are closed`, async (t) => {
    const port = await sharedPort(t)
    const old = await hostAt(t, '127.0.0.2', port, 2)
    await hostAt(t, '127.0.0.3', port, 2)
    const { names, ask } = await following(
      t,
      { [NAME]: { addresses: ['127.0.0.2'] } },
      { port, transport, connections: 4, keepAliveMs: 600_000 },
    )
    const load = async (): Promise<void> => {
      for (let answer = ''; answer !== `127.0.0.3 ${port}` || old.open > 0; answer = await ask())
        assert.doesNotMatch(answer, /status/)
    }
    // Before the first DNS response the system lookup is used, which does not know the name.
    await until(async () => (await ask()) === `127.0.0.2 ${port}`)
    const clients = Array.from({ length: 8 }, load)
    await until(() => old.requests > 100)
    names.names.set(NAME, { addresses: ['127.0.0.3'] })
    await Promise.all(clients)
    assert.equal(old.open, 0)
  })
}

test('a name whose addresses change all the time costs no request, no descriptor and no memory', async (t) => {
  const CHANGES = 30
  const port = await sharedPort(t)
  const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4']
  const hosts = await Promise.all(addresses.map((address) => hostAt(t, address, port)))
  const { gateway, names, ask } = await following(
    t,
    { [NAME]: { addresses: ['127.0.0.2'] } },
    { port, keepAliveMs: 600_000 },
  )
  await until(async () => (await ask()) === `127.0.0.2 ${port}`)
  let isOver = false
  t.after(() => (isOver = true))
  const load = async (): Promise<void> => {
    while (!isOver) assert.doesNotMatch(await ask(), /status/)
  }
  const clients = Array.from({ length: 4 }, load)
  const change = async (nth: number): Promise<void> => {
    const host = hosts[nth % hosts.length]!
    const { requests } = host
    names.names.set(NAME, { addresses: [addresses[nth % hosts.length]!] })
    await until(() => host.requests > requests && hasTargets(gateway, 1))
  }
  for (let nth = 1; nth <= hosts.length * 2; nth++) await change(nth)
  const [files, used] = [descriptors(), usedBytes()]
  for (let nth = 1; nth <= CHANGES; nth++) await change(nth)
  // Connections to removed addresses close when they are idle.
  await until(() => descriptors() <= files + 4)
  await until(() => usedBytes() < used + 4 * 1024 * 1024)
  isOver = true
  await Promise.all(clients)
})

test('a name that cannot be resolved keeps its addresses', async (t) => {
  const port = await sharedPort(t)
  await hostAt(t, '127.0.0.2', port)
  await hostAt(t, '127.0.0.3', port)
  const { gateway, names, ask } = await following(t, { [NAME]: { addresses: ['127.0.0.2'] } }, { port })
  await until(() => hasTargets(gateway, 1))
  for (const answer of ['NXDOMAIN', 'SERVFAIL', 'empty', 'silence'] as const) {
    names.names.set(NAME, answer)
    const { asked } = names
    await until(() => names.asked > asked)
    assert.equal(await ask(), `127.0.0.2 ${port}`, answer)
  }
  names.names.set(NAME, { addresses: ['127.0.0.3'] })
  await until(async () => (await ask()) === `127.0.0.3 ${port}`)
})

test('a service has hosts and ports; those of the first priority are used, by weight', async (t) => {
  const [a, b, c] = [await sharedPort(t), await sharedPort(t), await sharedPort(t)]
  const heavy = await hostAt(t, '127.0.0.2', a)
  const light = await hostAt(t, '127.0.0.3', b)
  const spare = await hostAt(t, '127.0.0.2', c)
  const services = [
    { name: 'one.test', port: a, priority: 10, weight: 30 },
    { name: 'two.test', port: b, priority: 10, weight: 10 },
    { name: 'one.test', port: c, priority: 20 },
  ]
  const { gateway, names, ask } = await following(
    t,
    {
      '_http._tcp.orders.test': { services },
      'one.test': { addresses: ['127.0.0.2'] },
      'two.test': { addresses: ['127.0.0.3'] },
    },
    { srv: '_http._tcp.orders.test' },
  )
  await until(() => hasTargets(gateway, 3))
  for (let i = 0; i < 40; i++) await ask()
  assert.deepEqual([heavy.requests + light.requests, spare.requests], [40, 0])
  assert.ok(heavy.requests > 28 && heavy.requests < 32, `${heavy.requests}`)
  names.names.set('_http._tcp.orders.test', { services: services.slice(2) })
  await until(async () => (await ask()) === `127.0.0.2 ${c}`)
})

test('an unreachable target has its name resolved again at once', async (t) => {
  const port = await sharedPort(t)
  const resolve = { minTtlMs: 20, maxTtlMs: 3_600_000 }
  const server = await NameServer.start(t, { [NAME]: { addresses: ['127.0.0.2'], ttl: 3600 } })
  const { gateway, ask } = await following(
    t,
    {},
    { port, resolve: { ...resolve, servers: [server.address] } },
  )
  await until(() => hasTargets(gateway, 1))
  assert.equal(server.asked, 1)
  await hostAt(t, '127.0.0.3', port)
  server.names.set(NAME, { addresses: ['127.0.0.3'] })
  await until(async () => (await ask()) === `127.0.0.3 ${port}`)
})
