import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SerialQueue } from './serial-queue.js'

test('jobs run one at a time in order, even after a failed one', async () => {
  const queue = new SerialQueue(16)
  const journal: string[] = []
  const job = (name: string) => async () => {
    journal.push(`${name} begins`)
    await new Promise((resolve) => setImmediate(resolve))
    journal.push(`${name} ends`)
    return name
  }
  const failing = queue.run(async () => {
    throw new Error('no')
  })
  const results = Promise.all([queue.run(job('a')), queue.run(job('b'))])
  await assert.rejects(failing, /no/)
  assert.deepEqual(await results, ['a', 'b'])
  assert.deepEqual(journal, ['a begins', 'a ends', 'b begins', 'b ends'])
  assert.equal(queue.size, 0)
})

test('a job beyond the bound is refused at once', async () => {
  const queue = new SerialQueue(1)
  let open: () => void = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const running = queue.run(() => gate)
  const waiting = queue.run(async () => 'waited')
  assert.equal(await queue.run(async () => 'refused'), null)
  open()
  await running
  assert.equal(await waiting, 'waited')
})
