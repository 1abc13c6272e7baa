import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fakeDocument, GatewayProcess, isAlive } from './testing/gateway-process.js'
import { until } from './testing/until.js'

async function started(t: TestContext, drain: string) {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first', drain) }).started()
  const pids = (await gateway.status()).workers.map((worker) => worker.pid!)
  return { gateway, pids }
}

const isUnderWay = (gateway: GatewayProcess): Promise<true> =>
  until(async () => (await gateway.status()).workers.some((worker) => worker.inFlight > 0))

test('SIGTERM turns readiness to 503 first, finishes what is in flight and exits 0', async (t) => {
  const { gateway, pids } = await started(t, 'drain: { delay: 2s, timeout: 10s }')
  gateway.signal('SIGTERM')
  await until(async () => (await gateway.api('/readyz')).status === 503)
  assert.equal((await gateway.status()).draining, true)
  assert.equal((await gateway.put(fakeDocument('second'))).status, 503)
  await until(async () => !(await gateway.echo()).ready)
  const slow = gateway.echo('/slow')
  assert.equal((await slow).worker > 0, true)
  assert.deepEqual(await gateway.exited, { code: 0, signal: null })
  assert.deepEqual(pids.filter(isAlive), [])
  assert.equal(gateway.log('drain.ended')[0]?.['cutRequests'], 0)
})

test('SIGINT does not wait for load balancers, cuts what is in flight at the deadline and exits 1 then', async (t) => {
  const { gateway, pids } = await started(t, 'drain: { delay: 10m, timeout: 200ms }')
  const hanging = fetch(`${gateway.url}/hang`).then(
    () => 'answered',
    () => 'cut',
  )
  await isUnderWay(gateway)
  gateway.signal('SIGINT')
  assert.deepEqual(await gateway.exited, { code: 1, signal: null })
  assert.equal(await hanging, 'cut')
  assert.equal(gateway.log('drain.ended')[0]?.['cutRequests'], 1)
  assert.deepEqual(pids.filter(isAlive), [])
})

test('SIGTERM while the gateway starts stops it without an error', async (t) => {
  const gateway = new GatewayProcess(t, { document: fakeDocument('slow-by-1') })
  await until(() => gateway.log('plane.dawdles').length === 1)
  gateway.signal('SIGTERM')
  assert.match((await gateway.startError()) ?? '', /asked to stop while it was starting/)
  assert.deepEqual(await gateway.exited, { code: 0, signal: null })
})

test('a second signal cuts what is in flight, counts it and exits 1, whether the drain has begun or waits', async (t) => {
  for (const delay of ['0s', '10m']) {
    const { gateway, pids } = await started(t, `drain: { delay: ${delay}, timeout: 10m }`)
    const hanging = [1, 2, 3].map(() =>
      fetch(`${gateway.url}/hang`).then(
        () => 'answered',
        () => 'cut',
      ),
    )
    const inFlight = async (): Promise<number> =>
      (await gateway.status()).workers.reduce((sum, worker) => sum + worker.inFlight, 0)
    await until(async () => (await inFlight()) === 3)
    gateway.signal('SIGTERM')
    await until(() => gateway.log('drain.begun').length === 1)
    gateway.signal('SIGTERM')
    assert.deepEqual(await gateway.exited, { code: 1, signal: null })
    assert.deepEqual(await Promise.all(hanging), ['cut', 'cut', 'cut'])
    assert.equal(gateway.log('drain.ended')[0]?.['cutRequests'], 3)
    assert.deepEqual(pids.filter(isAlive), [])
  }
})

test('a third signal ends everything at once', async (t) => {
  const { gateway, pids } = await started(t, 'drain: { delay: 10m, timeout: 10m }')
  gateway.signal('SIGTERM')
  await until(() => gateway.log('drain.begun').length === 1)
  gateway.signal('SIGTERM')
  await until(() => gateway.log('drain.cut').length === 1)
  gateway.signal('SIGTERM')
  assert.deepEqual(await gateway.exited, { code: 1, signal: null })
  assert.deepEqual(pids.filter(isAlive), [])
})

test('POST /v1/drain ends the gateway like SIGTERM', async (t) => {
  const { gateway } = await started(t, 'drain: { delay: 0s, timeout: 5s }')
  const response = await gateway.api('/v1/drain', { method: 'POST' })
  assert.equal(response.status, 202)
  assert.deepEqual(await gateway.exited, { code: 0, signal: null })
})

test('workers ignore the signals that a terminal sends to the whole group', async (t) => {
  const { gateway, pids } = await started(t, '')
  for (const pid of pids) {
    process.kill(pid, 'SIGINT')
    process.kill(pid, 'SIGTERM')
    process.kill(pid, 'SIGHUP')
  }
  assert.equal((await gateway.echo()).ready, true)
  assert.deepEqual(
    (await gateway.status()).workers.map(({ pid, restarts }) => [pid, restarts]),
    [
      [pids[0], 0],
      [pids[1], 0],
    ],
  )
})
