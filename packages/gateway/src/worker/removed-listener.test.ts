import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { startGateway, until } from '../testing/gateway.js'
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
