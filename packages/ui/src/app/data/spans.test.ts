import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PHASE_NAMES } from '@sluice/core'
import type { LogRecord } from './admin-api.js'
import { PHASES, phaseSpans, requestSpans, traceSpans } from './spans.js'

const RECORD: LogRecord = {
  '@timestamp': '2026-01-31T08:00:00.000Z',
  id: 'r1',
  span: { id: 'a' },
  http: { method: 'GET' },
  url: { path: '/x' },
  res: { status: 502 },
  t: { total: 100, route: 1, req_chain: 9, up_queue: 10, up_ttfb: 70, up_body: 10 },
  policies: [
    { id: 'jwt', ms: 4, out: 'pass' },
    { id: 'late', ms: 3, out: 'stop', at: 6, note: '401' },
  ],
  up: {
    attempts: 2,
    addr: 'http://b',
    status: 502,
    tries: [{ addr: 'http://a', at: 10, ms: 30, code: 'ECONNREFUSED', reason: 'refused', retry: 'failover' }],
  },
}

test('the phases have the names of the traffic log and follow each other', () => {
  assert.deepEqual(Object.keys(PHASES), PHASE_NAMES)
  const spans = phaseSpans(RECORD)
  assert.deepEqual(
    spans.map(({ note, startMs, ms }) => [note, startMs, ms]),
    [
      ['t.route', 0, 1],
      ['t.req_chain', 1, 9],
      ['t.up_queue', 10, 10],
      ['t.up_ttfb', 20, 70],
      ['t.up_body', 90, 10],
    ],
  )
})

test('policies and attempts are below their request', () => {
  assert.deepEqual(
    requestSpans(RECORD).map(({ name, startMs, ms, tone, depth }) => [name, startMs, ms, tone, depth]),
    [
      ['GET /x', 0, 100, 'bad', 0],
      ['policy jwt', 1, 4, 'policy', 1],
      ['policy late', 6, 3, 'bad', 1],
      ['attempt http://a', 10, 30, 'bad', 1],
      ['attempt http://b', 40, 60, 'bad', 1],
    ],
  )
})

test('policies with a recorded start take precedence', () => {
  const traced = { ...RECORD, policy_spans: [{ id: 'slow', at: 2, ms: 7, out: 'pass' }], up: {} }
  assert.deepEqual(
    requestSpans(traced).map(({ name, startMs }) => [name, startMs]),
    [
      ['GET /x', 0],
      ['policy slow', 2],
    ],
  )
})

test('a trace shows requests below the request that caused them, and survives a loop', () => {
  const child = { ...RECORD, id: 'r2', span: { id: 'b' }, parent: { id: 'a' }, policies: [], up: {} }
  const later = { ...child, id: 'r3', '@timestamp': '2026-01-31T08:00:00.020Z', span: { id: 'c' } }
  const spans = traceSpans([later, child, RECORD]).filter(({ href }) => href !== null)
  assert.deepEqual(
    spans.map(({ href, depth, startMs }) => [href, depth, startMs]),
    [
      ['#/log/r1', 0, 0],
      ['#/log/r2', 1, 0],
      ['#/log/r3', 1, 20],
    ],
  )
  const loop = { ...RECORD, parent: { id: 'b' }, policies: [], up: {} }
  assert.ok(traceSpans([loop, child]).length >= 0)
})
