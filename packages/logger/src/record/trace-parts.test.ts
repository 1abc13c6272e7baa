import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tracePart } from './trace-parts.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test('the ids of a valid traceparent are recorded', () => {
  const recorded = `,"trace":{"id":"${TRACE}"},"span":{"id":"${SPAN}"}`
  assert.equal(tracePart(`00-${TRACE}-${SPAN}-01`), recorded)
  assert.equal(tracePart(`01-${TRACE}-${SPAN}-00-more`), recorded)
})

test('an invalid traceparent is not recorded', () => {
  const bad = [
    '',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01x`,
    `01-${TRACE}-${SPAN}-01x`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}"-${SPAN}-1`,
  ]
  for (const value of bad) assert.equal(tracePart(value), '', value)
})
