import net, { type AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { documentFor, rssOf, startGateway, statusOf, until } from './testing.js'

const UPLOADS = 400
const UPLOAD_BYTES = 9_000_000
/** What V8 and the allocator keep, 80 to 95 MB however many uploads there were; memory that is not given back grows with them. */
const SLACK_BYTES = 120_000_000

test('the memory of uploads to a target that does not read is given back', async (t) => {
  const document = documentFor(await silentTarget(t)).replace('total: 10m', 'total: 3s')
  const gateway = await startGateway(t, document, ['--workers', '1'])
  const { pid } = (await statusOf(gateway.admin)).workers[0]!
  const before = rssOf(pid!)
  const port = Number(new URL(gateway.url).port)
  const body = Buffer.alloc(UPLOAD_BYTES)
  await Promise.all(Array.from({ length: UPLOADS }, () => upload(port, body)))
  await until(
    () => rssOf(pid!) < before + SLACK_BYTES,
    () => `${before}, then ${rssOf(pid!)}`,
  )
})

/** Accepts connections and reads nothing. */
async function silentTarget(t: TestContext): Promise<string> {
  const sockets: net.Socket[] = []
  const server = net.createServer({ pauseOnConnect: true }, (socket) => {
    sockets.push(socket.on('error', () => {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Sends until it is answered or cut. */
function upload(port: number, body: Buffer): Promise<unknown> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {})
    socket.write(`POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`)
    socket.write(body)
    socket.on('data', () => {}).once('close', resolve)
  })
}
