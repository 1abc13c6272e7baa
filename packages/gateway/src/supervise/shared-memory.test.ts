import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeDocument, GatewayProcess } from './testing/gateway-process.js'
import { until } from './testing/until.js'

test('all workers share a store that survives workers and is unavailable while the supervisor is stopped', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const workers = new Map<number, number>()
  let last = 0
  await until(async () => {
    const { worker, pid, count } = await gateway.echo('/count')
    assert.equal(count, ++last)
    workers.set(worker, pid)
    return workers.size === 2
  })
  process.kill(workers.get(1)!, 'SIGKILL')
  await until(async () => {
    // Connections of the killed worker are cut.
    const echo = await gateway.echo('/count').catch(() => null)
    if (echo !== null) assert.ok(echo.count! > last)
    return echo !== null && echo.worker === 1 && echo.pid !== workers.get(1)
  })
  const metrics = await (await gateway.api('/metrics')).text()
  assert.match(metrics, /^gw_memory_store_entries 1$/m)
  gateway.signal('SIGSTOP')
  assert.equal((await gateway.echo('/count')).count, -1)
  gateway.signal('SIGCONT')
  await until(async () => (await gateway.echo('/count')).count! > last)
})
