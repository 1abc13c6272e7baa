import assert from 'node:assert/strict'
import net, { type AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { isReady, logIdentity } from './gateway.js'

/** An admin API that takes every request and answers none. */
async function silent(t: TestContext): Promise<string> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => void sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('an admin API that does not answer is not waited for without end', { timeout: 20_000 }, async (t) => {
  const admin = await silent(t)
  assert.equal(await isReady(admin, 50), false)
  await assert.rejects(logIdentity(admin, 50), { name: 'TimeoutError' })
})
