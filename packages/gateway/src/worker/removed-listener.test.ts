import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { test } from 'node:test'
import tls from 'node:tls'
import { certificateFiles, tlsPlan } from '../listen/testing/certificate-files.js'
import { testEngines } from '../listen/testing/engines.js'
import { bundleOf, startGateway, until } from '../testing/gateway.js'
import { closedPort } from '../testing/origin.js'

const ROUTES = [
  { id: 'hello', action: { kind: 'respond' as const, status: 200, headers: [], body: 'hi' }, timeouts: null },
]

interface Seen {
  readonly isReused: boolean
  readonly connection: string | undefined
}

function get(port: number, agent: http.Agent): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const request = http.get({ port, host: '127.0.0.1', agent }, (response) => {
      response.resume()
      const { connection } = response.headers
      response.on('end', () => setImmediate(() => resolve({ isReused: request.reusedSocket, connection })))
    })
    request.on('error', reject)
  })
}

test('connections of a removed listener close with their next response', async (t) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const gateway = await startGateway(t, { routes: ROUTES })
  assert.notEqual((await get(gateway.port, agent)).connection, 'close')
  const port = await closedPort()
  await gateway.reload({ routes: ROUTES, listener: { address: `127.0.0.1:${port}`, port } })
  assert.deepEqual(await get(gateway.port, agent), { isReused: true, connection: 'close' })
  // The listening socket closes after a quiet turn of the event loop.
  const isRefused = (error: NodeJS.ErrnoException): boolean => error.code === 'ECONNREFUSED'
  await until(() => get(gateway.port, agent).then(() => false, isRefused))
})

testEngines("a prepared listener's TLS settings apply when it is activated", async (t, start, engine) => {
  const gateway = await start(t, { routes: ROUTES })
  const secure = bundleOf({ routes: ROUTES, listener: { engine, tls: tlsPlan(certificateFiles(t)) } })
  const areServed = async (): Promise<void> => {
    // The kernel distributes the connections if several sockets listen on the port.
    for (let i = 0; i < 20; i++) assert.equal((await fetch(gateway.url)).status, 200)
  }
  const discarded = await gateway.plane.prepare(secure)
  await areServed()
  discarded.discard()
  await areServed()
  await (await gateway.plane.prepare(secure)).activate()
  for (let i = 0; i < 20; i++) {
    const socket = tls.connect({ port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    socket.destroy()
  }
})

test('a document with a broken certificate is refused before its activation', async (t) => {
  const gateway = await startGateway(t, { routes: ROUTES })
  const files = { certFile: '/none/cert.pem', keyFile: '/none/key.pem' }
  for (const engine of ['uws', 'node'] as const)
    await assert.rejects(
      gateway.plane.prepare(bundleOf({ routes: ROUTES, listener: { engine, tls: tlsPlan(files) } })),
      /none/,
    )
  assert.equal((await fetch(gateway.url)).status, 200)
})
