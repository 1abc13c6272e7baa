import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callerSpanPart, tracePart } from './trace-parts.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const PARENT = 'b7ad6b7169203331'

test('without tracing, the ids of a valid traceparent are recorded', () => {
  const recorded = `,"trace":{"id":"${TRACE}"},"span":{"id":"${SPAN}"}`
  assert.equal(callerSpanPart(`00-${TRACE}-${SPAN}-01`), recorded)
  assert.equal(callerSpanPart(''), '')
  assert.equal(callerSpanPart(`00-${TRACE}-${SPAN}`), '')
})

test('with tracing, the ids of the exchange and its caller are recorded', () => {
  const trace = { traceId: TRACE, spanId: SPAN, isSampled: true, isKept: true, traceparent: '' }
  assert.equal(
    tracePart({ ...trace, parentId: PARENT }),
    `,"trace":{"id":"${TRACE}","sampled":true},"span":{"id":"${SPAN}"},"parent":{"id":"${PARENT}"}`,
  )
  assert.equal(
    tracePart({ ...trace, parentId: '', isSampled: false }),
    `,"trace":{"id":"${TRACE}","sampled":false},"span":{"id":"${SPAN}"}`,
  )
})
