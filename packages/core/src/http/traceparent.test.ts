import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTraceparent } from './traceparent.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test('a valid traceparent is read', () => {
  const sampled = { traceId: TRACE, spanId: SPAN, isSampled: true }
  assert.deepEqual(readTraceparent(`00-${TRACE}-${SPAN}-01`), sampled)
  assert.deepEqual(readTraceparent(`00-${TRACE}-${SPAN}-03`), sampled)
  assert.deepEqual(readTraceparent(`00-${TRACE}-${SPAN}-02`), { ...sampled, isSampled: false })
  assert.deepEqual(readTraceparent(`01-${TRACE}-${SPAN}-00-more`), { ...sampled, isSampled: false })
})

test('an invalid traceparent is not read', () => {
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
    ` 00-${TRACE}-${SPAN}-01`,
    `00_${TRACE}-${SPAN}-01`,
  ]
  for (const value of bad) assert.equal(readTraceparent(value), null, value)
})
