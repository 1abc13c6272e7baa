import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedTable } from './shared-table.js'

const GRACE_MS = 10_000

function table(): { table: SharedTable; closed: unknown[] } {
  const closed: unknown[] = []
  return { table: new SharedTable((value) => closed.push(value)), closed }
}

test('a value is created once per key', () => {
  const { table: shared } = table()
  const first = shared.acquire('a', () => ({}))
  assert.equal(shared.acquire('a', () => assert.fail('it is there already')).value, first.value)
  assert.notEqual(shared.acquire('b', () => ({})).value, first.value)
})

test('a value is closed some time after its last release', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { table: shared, closed } = table()
  const [one, two] = [shared.acquire('a', () => 'v'), shared.acquire('a', () => 'v')]
  one.release()
  one.release()
  t.mock.timers.tick(GRACE_MS)
  assert.deepEqual(closed, [], 'the second user still has it, although the first let go twice')
  two.release()
  t.mock.timers.tick(GRACE_MS - 1)
  assert.deepEqual(closed, [])
  t.mock.timers.tick(1)
  assert.deepEqual(closed, ['v'])
  assert.equal(shared.acquire('a', () => 'new').value, 'new')
})

test('using a value again restarts its grace period', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { table: shared, closed } = table()
  shared.acquire('a', () => 'v').release()
  t.mock.timers.tick(GRACE_MS - 1)
  shared.acquire('a', () => 'w').release()
  t.mock.timers.tick(GRACE_MS - 1)
  assert.deepEqual(closed, [])
  t.mock.timers.tick(1)
  assert.deepEqual(closed, ['v'])
})

test('clearing closes everything once, and later releases do not close again', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { table: shared, closed } = table()
  const used = shared.acquire('used', () => 'used')
  shared.acquire('idle', () => 'idle').release()
  shared.clear()
  assert.deepEqual(closed, ['used', 'idle'])
  shared.acquire('used', () => 'another')
  used.release()
  t.mock.timers.tick(GRACE_MS)
  assert.deepEqual(closed, ['used', 'idle'])
})

test('a value whose creation failed leaves nothing behind', () => {
  const { table: shared } = table()
  const fail = (): never => {
    throw new Error('no')
  }
  assert.throws(() => shared.acquire('a', fail), /no/)
  assert.equal(shared.acquire('a', () => 1).value, 1)
})
