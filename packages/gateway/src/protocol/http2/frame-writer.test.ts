import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { FrameWriter } from './frame-writer.js'
import { FLAG, FRAME } from './frames.js'

const BODY_BYTES = 32 * 1024 * 1024

test('a frame after the end of a connection does not cut the response that still waits in its socket', async (t) => {
  const server = net.createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  const [socket] = (await once(server, 'connection')) as [Socket]
  socket.write(Buffer.alloc(BODY_BYTES))
  socket.end()
  assert.ok(socket.writableLength > 0)
  const writer = new FrameWriter(socket)
  writer.bytes(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8))
  writer.flush()
  let received = 0
  client.on('data', (chunk) => (received += chunk.length)).resume()
  await once(client, 'close')
  assert.equal(received, BODY_BYTES)
})
