import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WriteBehind } from './write-behind.js'

test('keys are queued once, within a byte limit, and sent again only after another change', async () => {
  const sent: string[] = []
  const done: ((isKept: boolean) => void)[] = []
  let full = 0
  const queue = new WriteBehind({
    send: (key, isDone) => {
      sent.push(key)
      done.push(isDone)
      return 10
    },
    onFull: () => full++,
    onFailed: () => {},
  })
  queue.add('before')
  queue.start([])
  queue.hold()
  for (const key of ['a', 'b', 'a']) queue.add(key)
  assert.deepEqual([sent, queue.size, queue.has('a')], [[], 2, true])
  queue.forget('b')
  queue.release()
  assert.deepEqual(sent, ['a'])
  const idle = queue.idle()
  done[0]!(true)
  await idle

  queue.hold()
  const long = 'k'.repeat(1000)
  for (let i = 0; full === 0; i++) queue.add(`${long}${i}`)
  assert.ok(queue.size < 17_000)
  queue.stop()
  assert.equal(queue.size, 0)
  queue.release()
  assert.deepEqual(sent, ['a'])
})

test('concurrent writes are limited, and failed ones are reported', () => {
  const done: ((isKept: boolean) => void)[] = []
  let failed = 0
  const queue = new WriteBehind({
    send: (_, isDone) => done.push(isDone),
    onFull: () => {},
    onFailed: () => failed++,
  })
  queue.start([])
  for (let i = 0; i < 1200; i++) queue.add(String(i))
  const first = done.length
  assert.ok(first < 1200)
  done[0]!(false)
  assert.deepEqual([done.length, failed], [first + 1, 1])
})
