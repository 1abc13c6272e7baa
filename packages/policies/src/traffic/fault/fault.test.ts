import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import type { Eventual, Exchange, Reply, Step } from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { fault } from './policy.js'
import type { faultSchema } from './schema.js'

type FaultConfig = Static<typeof faultSchema>

const KEY = '0123456789abcdef'
const GUARD = { header: 'X-Fault-Key', value: KEY }
const ABORT = { status: 504 }

function compile(config: FaultConfig): Step {
  return fault.compile(config, testEnv()) as Step
}

function withKey(value: string): Exchange {
  return exchange({ headers: ['x-fault-key', value, 'a', 'b'] })
}

function numbers(t: TestContext, ...values: number[]): void {
  t.mock.method(Math, 'random', () => values.shift() ?? 0.99)
}

test('an abort is marked as injected, whatever its status', () => {
  const x = withKey(KEY)
  const reply = compile({ guard: GUARD, abort: ABORT }).onRequest!(x) as Reply
  assert.equal(reply.status, 504)
  assert.deepEqual(reply.headers, ['x-gw-error', 'GW_FAULT_INJECTED', 'x-gw-fault', 'abort'])
  assert.equal(x.vars?.get('fault'), 'abort')
})

test('only callers with the key get the fault, and the key is not forwarded', () => {
  const step = compile({ guard: GUARD, abort: ABORT })
  for (const value of ['', KEY.slice(1), `${KEY}0`, KEY.toUpperCase(), `${KEY}, ${KEY}`]) {
    const x = withKey(value)
    assert.equal(step.onRequest!(x), null, value)
    assert.deepEqual(x.headers, ['a', 'b'])
    assert.equal(x.vars, null)
  }
  assert.equal(step.onRequest!(exchange()), null)
  const twice = exchange({ headers: ['x-fault-key', 'wrong', 'x-fault-key', KEY] })
  assert.equal(step.onRequest!(twice), null)
  assert.deepEqual(twice.headers, [])
})

test('a share of the requests meets it', (t) => {
  const step = compile({ abort: { status: 500, percent: '10%' } })
  numbers(t, 0.099, 0.1)
  assert.notEqual(step.onRequest!(exchange()), null)
  assert.equal(step.onRequest!(exchange()), null)
  const never = compile({ abort: { status: 500, percent: '0%' } })
  numbers(t, 0)
  assert.equal(never.onRequest!(exchange()), null)
})

test('a delay lets go on, or aborts when that is due too; no more than the bound wait', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const env = testEnv()
  const config = { delay: { duration: '2s' }, abort: { status: 500, percent: '50%' }, maxDelayed: 2 }
  const step = fault.compile(config, env) as Step
  numbers(t, 0.9, 0, 0.1, 0, 0.9, 0)
  const slow = exchange()
  const waiting: Eventual[] = [
    step.onRequest!(slow),
    step.onRequest!(exchange()),
    step.onRequest!(exchange()),
  ]
  assert.equal(waiting[2], null, 'there is no room for a third')
  t.mock.timers.tick(2000)
  assert.equal(await waiting[0], null)
  assert.equal((await waiting[1])?.status, 500)
  step.onResponse!(slow)
  assert.deepEqual(slow.responseHeaders, ['x-gw-fault', 'delay'])
  assert.equal(slow.vars?.get('fault'), 'delay')
  const events = env.reports.map(({ event }) => event)
  assert.deepEqual(events, ['fault_enabled', ...Array(3).fill('fault_injected')])
})

test('it needs a condition, or a guard that cannot be guessed', () => {
  assert.equal(fault.needsCondition!({ abort: ABORT }), true)
  assert.equal(fault.needsCondition!({ abort: ABORT, guard: GUARD }), false)
  assert.throws(() => compile({ abort: ABORT, guard: { header: 'x-a', value: 'short' } }), /shorter than 16/)
  assert.throws(() => compile({ abort: ABORT, guard: { header: 'host', value: KEY } }), /cannot be changed/)
})

test('a fault without effect, an overlong delay and a success status are rejected', () => {
  assert.throws(() => compile({ guard: GUARD }), /neither 'delay' nor 'abort'/)
  assert.throws(() => compile({ delay: { duration: '1m' } }), /longer than 20s/)
  assert.deepEqual(schemaMistakes(fault, { abort: { status: 200 } }), ['/abort/status must be >= 400'])
  assert.equal(schemaMistakes(fault, { abort: { status: 500, percent: '10' } }).length, 1)
})
