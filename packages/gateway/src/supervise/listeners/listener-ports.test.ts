import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { fakeListener } from '../testing/fake-plan.js'
import { addressText, ListenerPorts } from './listener-ports.js'

async function foreignProcess(t: TestContext): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

test('a port that another process holds is refused with the address and the place to change', async (t) => {
  const port = await foreignProcess(t)
  const claim = await new ListenerPorts().claim([fakeListener(0), fakeListener(port)])
  assert.ok(!claim.ok)
  // On Linux the holder is known: this process.
  const held = process.platform === 'linux' ? ` by \\S+ \\(pid ${process.pid}\\)` : ''
  assert.match(
    claim.reasons[0]!,
    new RegExp(
      `^address 127\\.0\\.0\\.1:${port} is in use${held}; stop the other process or change listeners\\[1\\]\\.address$`,
    ),
  )
})

test('port 0 becomes a free port and keeps it over reloads', async () => {
  const ports = new ListenerPorts()
  const claim = await ports.claim([fakeListener(0)])
  assert.ok(claim.ok)
  const port = claim.ports['127.0.0.1:0'] ?? 0
  // A port from outside the range that the system uses for connections.
  assert.ok(port >= 10_000 && port < 20_000, String(port))
  ports.commit(claim.ports)
  const again = await ports.claim([fakeListener(0)])
  assert.deepEqual(again, claim)
})

test('an address that the gateway serves itself is not probed', async (t) => {
  const port = await foreignProcess(t)
  const ports = new ListenerPorts()
  ports.commit({ [`127.0.0.1:${port}`]: port })
  assert.deepEqual(await ports.claim([fakeListener(port)]), { ok: true, ports: ports.serving })
})

test('a claimed address is reserved for the gateway until it is released', {
  skip: process.platform !== 'linux' && 'no abstract sockets',
}, async () => {
  const [one, two] = [new ListenerPorts(), new ListenerPorts()]
  const claim = await one.claim([fakeListener(0)])
  assert.ok(claim.ok)
  const listener = fakeListener(claim.ports['127.0.0.1:0']!)
  const { address } = listener
  const reason = `address ${address} is in use by another Sluice gateway; stop the other process or change listeners[0].address`
  assert.deepEqual(await two.claim([listener]), { ok: false, reasons: [reason] })
  one.commit(claim.ports)
  assert.equal((await two.claim([listener])).ok, false)
  one.commit({})
  assert.equal((await two.claim([listener])).ok, true)
  assert.equal((await one.claim([listener])).ok, false)
  two.release()
  assert.equal((await one.claim([listener])).ok, true)
  one.close()
  assert.equal((await two.claim([listener])).ok, true)
  two.close()
})

test('an address of another machine is refused', async () => {
  const listener = { ...fakeListener(0), host: '192.0.2.1', address: '192.0.2.1:0' }
  const claim = await new ListenerPorts().claim([listener])
  assert.ok(!claim.ok)
  assert.match(
    claim.reasons[0]!,
    /192\.0\.2\.1:0 is not a local address of this machine; change listeners\[0\]/,
  )
})

test('an IPv6 host is put in brackets', () => {
  assert.equal(addressText('::1', 80), '[::1]:80')
})
