import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { FakeProcess } from '../testing/fake-process.js'
import { until } from '../testing/until.js'
import { SpareWorker } from './spare-worker.js'
import { WORKER_DEADLINES, WorkerHandle } from './worker-handle.js'

const SECRET = new Uint8Array(32)

function spare(t: TestContext) {
  const processes: FakeProcess[] = []
  const worker = new SpareWorker(() => {
    const process = new FakeProcess()
    processes.push(process)
    return new WorkerHandle(process, WORKER_DEADLINES, SECRET)
  })
  t.after(() => {
    worker.close()
    for (const process of processes) process.end(0, null)
  })
  return { worker, processes }
}

test('there is one spare at most, and the next only after it was taken', (t) => {
  const { worker, processes } = spare(t)
  assert.equal(worker.take(16_384), null)
  worker.keep(16_384)
  worker.keep(16_384)
  assert.equal(processes.length, 1)
  assert.notEqual(worker.take(16_384), null)
  assert.equal(worker.take(16_384), null)
  worker.keep(16_384)
  assert.equal(processes.length, 2)
})

test('the process receives its worker number once, when it is listening', (t) => {
  const { worker, processes } = spare(t)
  worker.keep(16_384)
  worker.take(16_384)?.assignNumber(2)
  assert.deepEqual(processes[0]?.heard, [])
  processes[0]?.say({ kind: 'hello' })
  assert.deepEqual(processes[0]?.heard, [{ kind: 'identity', worker: 2, secret: SECRET }])
})

test('a spare for smaller heads is killed instead of used', (t) => {
  const { worker, processes } = spare(t)
  worker.keep(16_384)
  assert.equal(worker.take(32_768), null)
  assert.deepEqual(processes[0]?.signals, ['SIGKILL'])
})

test('a dead spare is restarted, but not after close', async (t) => {
  const { worker, processes } = spare(t)
  worker.keep(16_384)
  processes[0]?.end(9, null)
  await until(() => processes.length === 2)
  worker.close()
  assert.deepEqual(processes[1]?.signals, ['SIGKILL'])
  worker.keep(16_384)
  assert.equal(processes.length, 2)
})
