import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hook } from '../flow/hook.js'
import { chainOf, type Phases } from './hook-order.js'

/** Steps 0 to 4 with every hook. */
function phases(bodies: readonly number[]): Phases {
  const all = [0, 1, 2, 3, 4]
  const hooks = (orders: readonly number[]): Hook[] =>
    orders.map((order) => ({ name: String(order), order, phase: 'request', run: () => null }))
  return {
    request: hooks(all),
    requestBody: [],
    attempt: hooks(all),
    rejected: [],
    response: hooks(all),
    responseBody: hooks(bodies),
    finish: all.map((order) => ({ name: String(order), order, run: () => {} })),
  }
}

const names = (hooks: readonly { readonly name: string }[] | null): string =>
  (hooks ?? []).map(({ name }) => name).join('')

test('without a step that stores responses all hooks run in document order', () => {
  const chain = chainOf(phases([3, 4]), null)
  assert.deepEqual([names(chain.response), names(chain.responseBody)], ['01234', '34'])
  assert.deepEqual([chain.layers, chain.refresh], [null, null])
})

test('responses pass the steps behind the storing step, then that step, then the steps before it', () => {
  const chain = chainOf(phases([0, 1]), 2)
  assert.equal(names(chain.request), '01234')
  assert.equal(names(chain.response), '34201')
  assert.equal(names(chain.responseBody), '01')
  assert.equal(chain.layers, null, 'nothing behind it reads bodies')
})

test('bodies pass the steps behind before heads reach the storing step', () => {
  const { layers } = chainOf(phases([0, 3, 4]), 2)
  assert.deepEqual([names(layers!.inner.response), names(layers!.inner.responseBody)], ['34', '34'])
  assert.deepEqual([names(layers!.outer.response), names(layers!.outer.responseBody)], ['201', '0'])
})

test('a refresh runs the steps behind the storing step, and all attempt hooks', () => {
  const { refresh } = chainOf(phases([0, 3]), 2)
  assert.equal(names(refresh!.request), '34')
  assert.equal(names(refresh!.attempt), '01234')
  assert.equal(names(refresh!.response), '342')
  assert.equal(names(refresh!.responseBody), '3')
  assert.equal(names(refresh!.finish), '234')
  assert.equal(names(refresh!.layers!.outer.response), '2')
})
