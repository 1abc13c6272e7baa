import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { LogIdentity } from '@sluice/core'
import { assertIdentity } from '@sluice/core/testing'
import { fakeDocument, GatewayProcess, isAlive, testDirectory } from '../testing/gateway-process.js'
import { until } from '../testing/until.js'

const started = (t: TestContext): Promise<GatewayProcess> =>
  new GatewayProcess(t, { document: fakeDocument('first') }).started()

/** Waits until the slot has another worker that is ready. */
function replaced(gateway: GatewayProcess, slot: number, pid: number) {
  return until(async () => {
    const worker = (await gateway.status()).workers.find(({ id }) => id === slot)
    return worker?.state === 'ready' && worker.pid !== pid ? worker : null
  })
}

test('killed workers are replaced, one at a time and both at once', async (t) => {
  const gateway = await started(t)
  const [one, two] = (await gateway.status()).workers
  process.kill(one!.pid!, 'SIGKILL')
  const replacement = await replaced(gateway, 1, one!.pid!)
  assert.equal((await gateway.status()).workers[1]?.pid, two!.pid)
  process.kill(replacement.pid!, 'SIGKILL')
  process.kill(two!.pid!, 'SIGKILL')
  await replaced(gateway, 1, replacement.pid!)
  await replaced(gateway, 2, two!.pid!)
  assert.deepEqual(
    (await gateway.status()).workers.map((worker) => worker.restarts),
    [2, 1],
  )
  assert.equal((await gateway.echo()).ready, true)
})

test('a worker that is killed again and again is replaced at once each time', async (t) => {
  const gateway = await started(t)
  let [worker] = (await gateway.status()).workers
  for (let i = 0; i < 4; i++) {
    process.kill(worker!.pid!, 'SIGKILL')
    worker = await replaced(gateway, 1, worker!.pid!)
  }
  const delays = gateway.log('worker.ended').map((entry) => entry['restartInMs'])
  assert.deepEqual(delays, [0, 0, 0, 0])
})

test('a stopped worker is detected by missing heartbeats and replaced', async (t) => {
  const gateway = await started(t)
  const [one] = (await gateway.status()).workers
  process.kill(one!.pid!, 'SIGSTOP')
  await replaced(gateway, 1, one!.pid!)
  assert.equal(isAlive(one!.pid!), false)
  assert.equal(gateway.log('worker.silent').length, 1)
})

test('a hanging worker is detected by missing heartbeats and replaced', async (t) => {
  const gateway = await started(t)
  const hung = fetch(`${gateway.url}/block`).catch(() => null)
  const [silent] = await until(() => {
    const entries = gateway.log('worker.silent')
    return entries.length > 0 ? entries : null
  })
  await hung
  await replaced(gateway, Number(silent?.['worker']), Number(silent?.['pid']))
})

test('an uncaught error ends one worker, is logged once with its stack, and the worker is replaced', async (t) => {
  const gateway = await started(t)
  await fetch(`${gateway.url}/throw`).catch(() => null)
  const [crash] = await until(() =>
    gateway.log('worker.crashed').length > 0 ? gateway.log('worker.crashed') : null,
  )
  assert.match(String(crash?.['stack']), /echo-plane/)
  await replaced(gateway, Number(crash?.['worker']), Number(crash?.['pid']))
  assert.equal(gateway.log('worker.crashed').length, 1)
})

test('workers that die before they are ready are given up and the start fails with the reason', async (t) => {
  const dir = testDirectory()
  const flag = join(dir, 'crash')
  writeFileSync(flag, '')
  const gateway = new GatewayProcess(t, {
    dir,
    document: fakeDocument('first'),
    env: { GW_TEST_CRASH_FLAG: flag },
  })
  const error = await gateway.startError()
  assert.match(error ?? '', /worker \d exited 5 times before it was ready: exited with code 9/)
  assert.deepEqual(await gateway.exited, { code: 1, signal: null })
})

test('a slot that cannot restart does not affect others, and restarts when possible', async (t) => {
  const dir = testDirectory()
  const flag = join(dir, 'crash')
  const options = { dir, document: fakeDocument('first'), env: { GW_TEST_CRASH_FLAG: flag } }
  const gateway = await new GatewayProcess(t, options).started()
  const [one, two] = (await gateway.status()).workers
  writeFileSync(flag, '')
  process.kill(one!.pid!, 'SIGKILL')
  await until(() => gateway.log('worker.ended').length >= 3)
  assert.equal((await gateway.echo()).worker, 2)
  assert.equal((await gateway.api('/readyz')).status, 200)
  const deploy = await gateway.put(fakeDocument('second'))
  assert.equal(deploy.status, 200)
  rmSync(flag)
  await replaced(gateway, 1, one!.pid!)
  const { workers, digest } = await gateway.status()
  assert.deepEqual(
    workers.map((worker) => worker.digest),
    [digest, digest],
  )
  assert.equal(workers[1]?.pid, two!.pid)
})

test('counters do not go backwards when a worker dies, and its log records stay in the identity', async (t) => {
  const gateway = await started(t)
  for (let i = 0; i < 10; i++) await gateway.echo()
  const requests = async (): Promise<number> => {
    const text = await (await gateway.api('/metrics')).text()
    return Number(/gw_requests_total\{upstream="echo"\} (\d+)/.exec(text)?.[1])
  }
  assert.equal(await requests(), 10)
  await until(
    async () => (await gateway.status()).workers.reduce((sum, { log }) => sum + log.received, 0) === 10,
  )
  const { workers } = await gateway.status()
  for (const { pid } of workers) process.kill(pid!, 'SIGKILL')
  for (const { id, pid } of workers) await replaced(gateway, id, pid!)
  assert.equal(await requests(), 10)
  await gateway.echo()
  assert.equal(await requests(), 11)
  const log = (await (await gateway.api('/v1/log')).json()) as LogIdentity & {
    readonly workers: readonly unknown[]
  }
  assertIdentity(log)
  assert.ok(log.received >= 10)
  assert.equal(log.workers.length, 2)
  const text = await (await gateway.api('/metrics')).text()
  assert.match(text, /gw_worker_restarts_total\{worker="1"\} 1\n/)
})
