import net, { type AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** Starts a proxy to a local port that delays answers. It is closed after the test. */
export async function slowBridge(t: Pick<TestContext, 'after'>, output: number) {
  const bridge = { port: 0, delayMs: 0 }
  const sockets = new Set<net.Socket>()
  const server = net.createServer((client) => {
    const onward = net.connect(output, '127.0.0.1')
    for (const [from, to] of [
      [client, onward],
      [onward, client],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    client.on('data', (chunk) => onward.write(chunk))
    // Keep the order of delayed answers.
    let dueMono = 0
    onward.on('data', (chunk) => {
      dueMono = Math.max(dueMono, performance.now() + bridge.delayMs)
      setTimeout(() => client.write(chunk), dueMono - performance.now()).unref()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  bridge.port = (server.address() as AddressInfo).port
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return bridge
}
