import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { until } from '../../../testing/gateway.js'
import { connectRaw } from '../../../testing/raw-connection.js'
import { acceptorOf, unsentBytes } from './server-socket.js'

/** A port that reports the bytes it has read, and how a connection has ended. */
async function tellingPort(
  t: TestContext,
  usesDataEvents: boolean,
): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = []
  const server = net.createServer({ allowHalfOpen: true, noDelay: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  acceptorOf(server)(
    (socket) => {
      socket.on('end', () => {
        seen.push('end')
        socket.end('bye')
      })
      socket.on('error', (error: NodeJS.ErrnoException) => seen.push(error.code!))
      socket.on('close', () => seen.push('close'))
      return {
        onBytes(bytes, length) {
          const text = bytes.toString('latin1', 0, length)
          if (text.startsWith('pause')) {
            socket.pause()
            setImmediate(() => socket.resume())
          }
          seen.push(text)
          socket.write(`<${text}>`)
        },
      }
    },
    { usesDataEvents },
  )
  t.after(() => server.close())
  return { port: (server.address() as net.AddressInfo).port, seen }
}

test('sockets read into the one buffer and sockets read by events report the same', async (t) => {
  for (const usesDataEvents of [false, true]) {
    const { port, seen } = await tellingPort(t, usesDataEvents)
    const client = await connectRaw(t, port)
    for (const text of ['one', 'pause', 'two']) {
      client.send(text)
      await until(() => client.text.endsWith(`<${text}>`))
    }
    client.halfClose()
    await until(() => client.isClosed)
    assert.equal(client.text, '<one><pause><two>bye')
    await until(() => seen.length === 5)
    assert.deepEqual(seen, ['one', 'pause', 'two', 'end', 'close'])
    const other = await connectRaw(t, port)
    other.send('x')
    await until(() => other.text === '<x>')
    other.reset()
    await until(() => seen.length === 8)
    assert.deepEqual(seen.slice(5), ['x', 'ECONNRESET', 'close'])
  }
})

test('the unread bytes of one write are known', async (t) => {
  const server = net.createServer({ allowHalfOpen: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const sockets: net.Socket[] = []
  acceptorOf(server)((socket) => {
    sockets.push(socket)
    return { onBytes() {} }
  })
  t.after(() => server.close())
  const client = await connectRaw(t, (server.address() as net.AddressInfo).port)
  client.pause()
  await until(() => sockets.length === 1)
  const bytes = 32 * 1024 * 1024
  sockets[0]!.write(Buffer.alloc(bytes))
  const first = unsentBytes(sockets[0]!)
  assert.ok(first > 0 && first < bytes, String(first))
  client.resume()
  await until(() => unsentBytes(sockets[0]!) === 0)
  sockets[0]!.destroy()
})
