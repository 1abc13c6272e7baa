import assert from 'node:assert/strict'
import net, { type AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { documentFor, rssOf, startGateway, statusOf, until } from './testing.js'

const UPLOADS = 400
const UPLOAD_BYTES = 9_000_000
/** Of all uploads together. A busy worker refuses some of them at once, so that one wave may be less. */
const RECEIVED_BYTES = 100_000_000
/** What the allocator keeps. */
const SLACK_BYTES = 20_000_000
/**
 * All garbage is collected twice a second. V8 sees no reason to while nothing happens, and so keeps buffers that nobody
 * uses any more: up to 240 MB after these uploads, depending on when it collected last.
 */
const COLLECT_GARBAGE = `--import=data:text/javascript,${encodeURIComponent(`
  import v8 from 'node:v8'
  import { runInNewContext } from 'node:vm'
  v8.setFlagsFromString('--expose-gc')
  setInterval(runInNewContext('() => gc()'), 500).unref()
`)}`

test('memory of uploads to a target that does not read is released', async (t) => {
  const document = documentFor(await silentTarget(t)).replace('total: 10m', 'total: 3s')
  const env = { NODE_OPTIONS: COLLECT_GARBAGE }
  const gateway = await startGateway(t, document, ['--workers', '1'], { env })
  const pid = await workerPid(gateway.admin)
  const before = rssOf(pid)
  const port = Number(new URL(gateway.url).port)
  const body = Buffer.alloc(UPLOAD_BYTES)
  while ((await receivedBytes(gateway.admin)) < RECEIVED_BYTES)
    await Promise.all(Array.from({ length: UPLOADS }, () => upload(port, body)))
  await until(
    () => rssOf(pid) < before + SLACK_BYTES,
    () => `${before}, then ${rssOf(pid)}`,
  )
  // And not because the worker has ended.
  assert.equal(await workerPid(gateway.admin), pid)
})

async function workerPid(admin: string): Promise<number> {
  return (await statusOf(admin)).workers[0]!.pid!
}

/** How much of the bodies of requests the gateway has taken. */
async function receivedBytes(admin: string): Promise<number> {
  const metrics = await (await fetch(`${admin}/metrics`)).text()
  return Number(/^gw_request_bytes_total\{route="all"\} (\d+)/m.exec(metrics)?.[1] ?? 0)
}

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
