import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LOG } from '@sluice/core'
import type { FromWorker } from '../../worker/messages.js'
import { fakeBundle } from '../testing/fake-plan.js'
import { FakeProcess } from '../testing/fake-process.js'
import { until } from '../testing/until.js'
import { SILENCE_REASON, watchSilence } from './watchdog.js'
import { WORKER_DEADLINES, type WorkerDeadlines, WorkerHandle } from './worker-handle.js'

const SHORT: WorkerDeadlines = {
  startMs: 30,
  prepareMs: 30,
  activateMs: 30,
  discardMs: 30,
  samplesMs: 30,
  silenceMs: 30,
}
const ASSIGNMENT = { epoch: 3, bundle: fakeBundle(), ports: {} }
const BEAT: FromWorker = {
  kind: 'heartbeat',
  digest: null,
  inFlight: 0,
  connections: 0,
  log: EMPTY_LOG,
  rssBytes: 0,
  loopLagMs: 0,
  stateProblem: null,
}

function handle(deadlines: WorkerDeadlines = WORKER_DEADLINES) {
  const process = new FakeProcess()
  return { process, worker: new WorkerHandle(process, deadlines, new Uint8Array(32)) }
}

test('a spare is not asked for metrics, but a numbered worker is', async () => {
  const { process, worker } = handle()
  process.say({ kind: 'hello' })
  await worker.sample()
  assert.deepEqual(process.heard, [])
  worker.assignNumber(1)
  const sampled = worker.sample()
  process.say({ kind: 'samples', id: 1, samples: [{ name: 'gw_connections', labels: '', value: 3 }] })
  await sampled
  assert.equal(worker.lastSamples[0]?.value, 3)
})

test('a worker knows the outages before it receives a bundle', async () => {
  const outages = [{ upstream: 'up', target: 'http://a:1', isDrained: true, isHealthy: true }]
  const { process, worker } = handle()
  const known = worker.setTargets({ outages, services: [] })
  worker.assignNumber(1)
  process.say({ kind: 'hello' })
  void worker.prepare(ASSIGNMENT)
  assert.deepEqual(
    process.heard.map(({ kind }) => kind),
    ['identity', 'targets', 'routes', 'prepare'],
  )
  await known
  const changed = worker.setTargets({ outages: [], services: [] })
  const question = process.heard.at(-1)
  assert.ok(question?.kind === 'targets' && question.outages.length === 0)
  process.say({ kind: 'targets', id: question.id })
  await changed
})

test('an answer settles the request with its id', async () => {
  const { process, worker } = handle()
  const prepared = worker.prepare(ASSIGNMENT)
  const activated = worker.activate(3)
  process.say({ kind: 'activated', id: 2, digest: 'abc' })
  process.say({ kind: 'failed', id: 1, reason: 'no certificate' })
  process.say({ kind: 'prepared', id: 99 })
  assert.deepEqual([await prepared, await activated], ['no certificate', null])
  assert.deepEqual([worker.epoch, worker.digest], [3, 'abc'])
})

test('a missing answer counts as a refusal at the deadline, and a late one is ignored', async () => {
  const { process, worker } = handle(SHORT)
  assert.equal(await worker.prepare(ASSIGNMENT), 'no answer to prepare within 30 ms')
  assert.equal(await worker.activate(3), 'no answer to activate within 30 ms')
  process.say({ kind: 'activated', id: 2, digest: 'late' })
  assert.equal(worker.epoch, 0)
})

test('the exit settles all open and later requests', async () => {
  const { process, worker } = handle()
  const prepared = worker.prepare(ASSIGNMENT)
  process.end(null, 'SIGSEGV')
  assert.equal(await prepared, 'killed by SIGSEGV')
  assert.equal(await worker.discard(3), 'killed by SIGSEGV')
  assert.equal((await worker.exited).signal, 'SIGSEGV')
})

test('messages that arrive after the exit still count', async () => {
  const { process, worker } = handle()
  process.say({ kind: 'hello' })
  const drained = worker.drain(1000)
  process.emit('exit', 0, null)
  const samples = [{ name: 'gw_requests_total', labels: '', value: 7 }]
  process.say({ kind: 'drained', id: 1, cut: 2, samples, log: { ...EMPTY_LOG, received: 7, indexed: 7 } })
  process.emit('disconnect')
  assert.equal(await drained, 2)
  assert.deepEqual([worker.lastSamples, worker.lastLog?.received], [samples, 7])
})

test('a worker that does not start in time is killed', async () => {
  const { process, worker } = handle(SHORT)
  assert.equal(await worker.started(), false)
  assert.deepEqual(process.signals, ['SIGKILL'])
})

test('a worker that has not started is killed instead of drained', async () => {
  const { process, worker } = handle()
  assert.equal(await worker.drain(1000), 0)
  assert.deepEqual(process.signals, ['SIGKILL'])
})

test('the watchdog kills a worker that falls silent and leaves the others alone', async (t) => {
  const silent = handle({ ...WORKER_DEADLINES, silenceMs: 200 })
  const lively = handle()
  for (const { process } of [silent, lively]) {
    process.say({ kind: 'hello' })
    process.say(BEAT)
  }
  t.after(
    watchSilence(
      () => [silent.worker, lively.worker],
      (worker) => worker.kill(SILENCE_REASON),
    ),
  )
  await until(() => silent.process.signals.length > 0)
  assert.deepEqual([silent.process.signals, lively.process.signals], [['SIGKILL'], []])
  assert.match(silent.worker.killReason ?? '', /no heartbeat/)
})
