import assert from 'node:assert/strict'
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

test('an address that is not of this machine is refused', async () => {
  const faults: unknown[] = []
  const options = {
    host: '192.0.2.1',
    port: 1,
    onFault: (error: unknown) => faults.push(error),
    isReusable: true,
  }
  await assert.rejects(openListeningSocket(options), /EADDRNOTAVAIL|192\.0\.2\.1/)
})
