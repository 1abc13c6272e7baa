import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { testDirectory } from '../testing/gateway-process.js'
import { EarlyWorkers } from './early-workers.js'
import type { ForkSize } from './fork-process.js'

const SIZE: ForkSize = [16_384, 2, 0]

/** Starts two processes that send a message at once, and repeat each message. */
function startTwo(t: TestContext): EarlyWorkers {
  const file = join(testDirectory(), 'worker.mjs')
  writeFileSync(file, "process.send('first'); process.on('message', (text) => process.send(text))")
  const fleet = { path: '', instance: '' }
  const program = { entry: pathToFileURL(file), version: '', nodeOptions: [], fleet, onOutput: null }
  const early = new EarlyWorkers(program, SIZE, 2)
  t.after(() => early.close())
  return early
}

test('messages of an early worker are kept until it has been taken', async (t) => {
  const { worker, release } = startTwo(t).take(SIZE)!
  t.after(() => worker.process.kill('SIGKILL'))
  await once(worker, 'message')
  const received: unknown[] = []
  worker.on('message', (message) => void received.push(message))
  release()
  assert.deepEqual(received, ['first'])
  worker.send('second')
  await once(worker, 'message')
  assert.deepEqual(received, ['first', 'second'])
})

test('early workers with other settings are not taken, and can be closed', async (t) => {
  const early = startTwo(t)
  assert.equal(early.take([65_536, 2, 0]), null)
  assert.equal(early.take([16_384, 1, 0]), null)
  const [one, other] = Object.values(cluster.workers ?? {}).slice(-2)
  const exits = [once(one!, 'exit'), once(other!, 'exit')]
  early.close()
  assert.equal(early.take(SIZE), null)
  await Promise.all(exits)
})

test('an early worker that has exited is skipped', async (t) => {
  const early = startTwo(t)
  const [first] = Object.values(cluster.workers ?? {}).slice(-2)
  first!.process.kill('SIGKILL')
  await once(first!, 'exit')
  const { worker } = early.take(SIZE)!
  t.after(() => worker.process.kill('SIGKILL'))
  assert.notEqual(worker, first)
  assert.equal(early.take(SIZE), null)
})
