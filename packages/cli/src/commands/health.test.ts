import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closedPort, documentFor, gw, startGateway, until } from '../testing.js'

const DRAINING = `${documentFor('http://127.0.0.1:9')}drain: { delay: 1m }\n`

test('a gateway that serves is ready; one that drains is alive, and no longer ready', async (t) => {
  const gateway = await startGateway(t, DRAINING, ['--workers', '1'])
  const run = (...args: string[]) => gw(['health', ...args, '--server', gateway.admin])
  assert.deepEqual(await run(), { code: 0, stdout: 'ready\n', stderr: '' })
  gateway.process.kill('SIGTERM')
  await until(() => gateway.logText().includes('drain.begun'), gateway.logText)
  const [ready, alive] = await Promise.all([run(), run('--alive')])
  assert.equal(ready.code, 1)
  assert.match(ready.stderr, /answered 503/)
  assert.deepEqual(alive, { code: 0, stdout: 'alive\n', stderr: '' })
})

test('a gateway that is not there is not healthy', async () => {
  const server = `http://127.0.0.1:${await closedPort()}`
  const { code, stderr } = await gw(['health'], { env: { GW_SERVER: server } })
  assert.equal(code, 5)
  assert.match(stderr, /cannot reach the gateway/)
})
