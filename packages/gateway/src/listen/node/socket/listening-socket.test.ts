import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { closedPort } from '../../../testing/origin.js'
import { sendRaw } from '../../../testing/raw-client.js'
import { openListeningSocket } from './listening-socket.js'

const skip = process.platform === 'linux' ? false : 'only Linux spreads connections over sockets of one port'

test('two sockets listen at one port, and the second goes on when the first has closed', {
  skip,
}, async (t) => {
  const port = await closedPort()
  const faults: unknown[] = []
  const options = {
    host: '127.0.0.1',
    port,
    onFault: (error: unknown) => faults.push(error),
    isReusable: true,
  }
  const answered = [0, 0]
  const sockets = [await openListeningSocket(options), await openListeningSocket(options)]
  for (const [i, socket] of sockets.entries()) {
    t.after(() => socket.close())
    socket.accept((accepted) => {
      answered[i]!++
      accepted.on('error', () => {})
      accepted.end('here')
      return { onBytes() {} }
    }, {})
  }
  const ask = async (): Promise<void> => {
    const isHere = (text: string): boolean => text === 'here'
    assert.equal((await sendRaw(port, ['x'], { until: isHere })).text, 'here')
  }
  for (let i = 0; i < 60 && answered.includes(0); i++) await ask()
  assert.ok(!answered.includes(0), 'the system spreads connections')
  sockets[0]!.close()
  const before = answered[0]
  for (let i = 0; i < 10; i++) await ask()
  assert.equal(answered[0], before)
  assert.deepEqual(faults, [])
})

test('an address that does not belong to this machine is refused', async () => {
  const faults: unknown[] = []
  const options = {
    host: '192.0.2.1',
    port: 1,
    onFault: (error: unknown) => faults.push(error),
    isReusable: true,
  }
  await assert.rejects(openListeningSocket(options), /EADDRNOTAVAIL|192\.0\.2\.1/)
})

// Node.js 22.12 and later have sockets in place of descriptors, over which the system spreads connections as it likes.
const skipCrowd = skip || (Number(process.versions.node.split('.')[0]) >= 22 && 'several sockets')

test('a burst of connections is accepted in a few turns of the event loop', {
  skip: skipCrowd,
}, async (t) => {
  const socket = await openListeningSocket({
    host: '127.0.0.1',
    port: await closedPort(),
    onFault: () => {},
    isReusable: true,
  })
  t.after(() => socket.close())
  const clients = Array.from({ length: 200 }, () => net.connect(socket.port, '127.0.0.1'))
  for (const client of clients) {
    client.on('error', () => {})
    t.after(() => client.destroy())
  }
  await Promise.all(clients.map((client) => once(client, 'connect')))
  let accepted = 0
  const take = (client: net.Socket): null => {
    accepted++
    client.on('error', () => {}).destroy()
    return null
  }
  socket.accept(take, {})
  const turns: number[] = []
  for (let before = 0; accepted < clients.length; before = accepted) {
    await new Promise(setImmediate)
    if (accepted > before) turns.push(accepted - before)
  }
  assert.deepEqual(turns, [16, 64, 64, 56])
})
