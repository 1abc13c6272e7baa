import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Semaphore } from './semaphore.js'

const GOING = { endedMono: 0 }

test('those that have waited too long get no turn, and those after them do', async () => {
  let now = 0
  const semaphore = new Semaphore(1, 1000, () => ({ mono: now, cpuMs: now }))
  assert.equal(await semaphore.acquire(GOING), true)
  const old = [semaphore.acquire(GOING), semaphore.acquire(GOING)]
  now = 600
  const young = semaphore.acquire(GOING)
  now = 1001
  semaphore.release()
  assert.deepEqual(await Promise.all([...old, young]), [false, false, true])
})

test('an arrival drops those that have waited too long, even if no turn ends', async () => {
  let now = 0
  const semaphore = new Semaphore(1, 1000, () => ({ mono: now, cpuMs: now }))
  await semaphore.acquire(GOING)
  const old = semaphore.acquire(GOING)
  now = 1001
  void semaphore.acquire(GOING)
  assert.equal(await old, false)
  assert.equal(semaphore.waiting, 1)
})

test('time in which the process had no CPU does not count as waiting', async () => {
  let mono = 0
  const semaphore = new Semaphore(1, 1000, () => ({ mono, cpuMs: 10 }))
  await semaphore.acquire(GOING)
  const waiting = semaphore.acquire(GOING)
  mono = 60_000
  semaphore.release()
  assert.equal(await waiting, true)
})
