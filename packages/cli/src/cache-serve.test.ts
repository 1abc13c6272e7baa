import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { closedPort, gw, startGateway, until } from './testing.js'

interface Server {
  readonly pid: number
  readonly restarts: number
}

test("the cache policy stores values in the gateway's cache server, also after a crash of that server", async (t) => {
  let asked = 0
  const upstream = createServer((_, res) => void res.end(String(++asked))).listen(0, '127.0.0.1')
  t.after(() => upstream.close())
  await until(() => upstream.listening)
  const port = await closedPort()
  const cache = { space: 'quotes', key: ['req.path'] }
  const document = {
    version: 1,
    listeners: [{ address: '127.0.0.1:0' }],
    admin: { address: '127.0.0.1:0' },
    log: { sink: 'none' },
    workers: 1,
    cache: { timeout: '10s', serve: { listen: `127.0.0.1:${port}` } },
    upstreams: { up: { targets: [`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`] } },
    routes: [
      {
        id: 'all',
        upstream: 'up',
        policies: [
          { use: 'cache', with: { operation: 'lookup', ...cache, into: 'reply' } },
          { use: 'cache', with: { operation: 'populate', ...cache, from: 'body', ttl: '1h' } },
        ],
      },
    ],
  }
  const gateway = await startGateway(t, JSON.stringify(document))
  const text = async (): Promise<string> => (await fetch(`${gateway.url}/a`)).text()
  const kept = async (): Promise<number> =>
    fetch(`http://127.0.0.1:${port}/v1/cache/quotes/@/%252Fa`).then(
      ({ status }) => status,
      () => 0,
    )
  assert.equal(await text(), '1')
  await until(async () => (await kept()) === 200)
  assert.equal(await text(), '1')
  const status = async (): Promise<Server> =>
    ((await (await fetch(`${gateway.admin}/v1/status`)).json()) as { cacheServer: Server }).cacheServer
  const { stdout } = await gw(['status', '--server', gateway.admin])
  assert.match(stdout, new RegExp(`cache server http://127.0.0.1:${port}: ready, .* restarts: 0`))

  process.kill((await status()).pid, 'SIGKILL')
  await until(async () => (await status()).restarts === 1 && (await kept()) === 404)
  await until(async () => {
    await text()
    return (await kept()) === 200
  })
  const again = String(asked)
  assert.deepEqual([await text(), await text()], [again, again])
  gateway.process.kill('SIGTERM')
  assert.equal(await gateway.exited, 0)
})
