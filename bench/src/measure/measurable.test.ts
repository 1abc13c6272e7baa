import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Suite } from '../model/scenario.js'
import { suiteOf } from '../suite/suites.js'
import { measurablePart } from './measurable.js'

const TARGET = { origin: 'http://127.0.0.1:1', pid: null }

function ids({ cases, trials = [] }: Suite): string[] {
  return [...cases.map(({ scenario }) => scenario.id), ...trials.map(({ id }) => id)]
}

test('of a suite the part is measured that a target can be asked, and that has what it needs', () => {
  const apinizer = suiteOf('apinizer')
  const all = ids(apinizer)
  const logged = all.filter((id) => id.endsWith('-elasticsearch'))
  assert.ok(logged.length > 0 && logged.length < all.length)
  const plain = all.filter((id) => !logged.includes(id))
  assert.deepEqual(ids(measurablePart(apinizer, undefined, null)), all)
  assert.deepEqual(ids(measurablePart(apinizer, undefined, 'none is installed')), plain)
  assert.deepEqual(ids(measurablePart(apinizer, TARGET, null)), plain)
})

test('trials that need an Elasticsearch are left out where there is none', () => {
  const chaos = suiteOf('chaos')
  assert.deepEqual(measurablePart(chaos, undefined, null), chaos)
  const left = ids(chaos).filter((id) => !ids(measurablePart(chaos, undefined, 'none')).includes(id))
  assert.deepEqual(left, ['elasticsearch-down', 'elasticsearch-slow'])
})
