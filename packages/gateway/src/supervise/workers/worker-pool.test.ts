import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { SharedMemory } from '../../state/shared-memory.js'
import { createOperationLog } from '../../telemetry/operation-log.js'
import { FakeProcess } from '../testing/fake-process.js'
import { WORKER_DEADLINES, WorkerHandle } from './worker-handle.js'
import { WorkerPool } from './worker-pool.js'

/** Parameters with which a worker was started, and its process. */
interface Forked {
  readonly headBytes: number
  readonly workers: number
  readonly process: FakeProcess
}

function pool(t: TestContext, heapOf = (_: number): string => '') {
  const forked: Forked[] = []
  const workers = new WorkerPool({
    fork: (headBytes, workers) => {
      const process = new FakeProcess()
      forked.push({ headBytes, workers, process })
      return new WorkerHandle(process, WORKER_DEADLINES, new Uint8Array(32))
    },
    log: createOperationLog({ write: () => {} }),
    memory: new SharedMemory(),
    heapOf,
    onGaveUp: () => {},
    onChanged: () => {},
  })
  t.after(() => workers.close())
  const sayHello = (): void => {
    for (const { process } of forked) if (process.isOpen) process.say({ kind: 'hello' })
  }
  /** Makes every worker that is started meanwhile send its first message. */
  const settled = async <T>(result: Promise<T>): Promise<T> => {
    let isOver = false
    void result.finally(() => {
      isOver = true
    })
    while (!isOver) {
      sayHello()
      await setImmediate()
    }
    return result
  }
  return { workers, forked, sayHello, settled }
}

test('no more workers start at a time than there are CPUs, and the next when one is up or has ended', async (t) => {
  const { workers, forked, settled } = pool(t)
  const cpus = availableParallelism()
  const started = workers.start(cpus + 2, { headBytes: 16_384, reservedBytes: 0 })
  assert.equal(forked.length, cpus)
  forked[0]!.process.say({ kind: 'hello' })
  await setImmediate()
  assert.equal(forked.length, cpus + 1)
  forked[1]?.process.end(1, null)
  assert.equal(await settled(started), true)
  assert.equal(workers.slots.filter(({ state }) => state === 'idle').length, cpus + 2)
})

test('workers started early are used for the plan', async (t) => {
  const { workers, forked, sayHello } = pool(t)
  workers.startEarly(2)
  assert.equal(workers.isStarted, false)
  sayHello()
  assert.equal(await workers.start(2, { headBytes: 8192, reservedBytes: 0 }), true)
  assert.equal(workers.isStarted, true)
  assert.deepEqual(
    forked.map(({ headBytes, workers: count, process }) => [headBytes, count, process.signals]),
    [
      [16_384, 2, []],
      [16_384, 2, []],
    ],
  )
})

test('a plan with another worker count gets its own workers', async (t) => {
  const more = pool(t)
  more.workers.startEarly(1)
  more.sayHello()
  const started = more.workers.start(3, { headBytes: 16_384, reservedBytes: 0 })
  assert.equal(await more.settled(started), true)
  assert.deepEqual([more.forked.length, more.workers.slots.length], [3, 3])
  const fewer = pool(t)
  fewer.workers.startEarly(2)
  fewer.sayHello()
  void fewer.workers.start(1, { headBytes: 16_384, reservedBytes: 0 })
  assert.deepEqual(
    [fewer.workers.slots.length, fewer.forked.map(({ process }) => process.heard.at(-1)?.kind)],
    [1, ['identity', 'drain']],
  )
})

test('all workers, spares and replacements have the same secret of session tickets, and it is rotated', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { workers, forked, sayHello, settled } = pool(t)
  await settled(workers.start(2, { headBytes: 16_384, reservedBytes: 0 }))
  const lastSecrets = (): string[] =>
    forked.flatMap(({ process }) => {
      const told = process.heard.findLast((message) => message.kind === 'tickets')
      return process.isOpen && told !== undefined ? [Buffer.from(told.secret).toString('hex')] : []
    })
  const [first] = lastSecrets()
  assert.deepEqual(lastSecrets(), [first, first])
  t.mock.timers.tick(12 * 3_600_000)
  const [second] = lastSecrets()
  assert.notEqual(second, first)
  workers.resize(3, 0)
  sayHello()
  assert.deepEqual(lastSecrets(), [second, second, second])
})

test('workers started for smaller heads are replaced', async (t) => {
  const { workers, forked, settled } = pool(t)
  workers.startEarly(1)
  const started = workers.start(1, { headBytes: 65_536, reservedBytes: 0 })
  assert.equal(await settled(started), true)
  assert.deepEqual(
    forked.map(({ headBytes, process }) => [headBytes, process.signals]),
    [
      [16_384, ['SIGKILL']],
      [65_536, []],
    ],
  )
})

test('workers with the heap size of another worker count are replaced', async (t) => {
  const { workers, forked, settled } = pool(t, String)
  workers.startEarly(2)
  const started = workers.start(1, { headBytes: 16_384, reservedBytes: 0 })
  assert.equal(await settled(started), true)
  assert.deepEqual(
    forked.map(({ workers: count, process }) => [count, process.signals]),
    [
      [2, ['SIGKILL']],
      [2, ['SIGKILL']],
      [1, []],
    ],
  )
})
