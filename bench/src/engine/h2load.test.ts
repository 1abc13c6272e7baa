import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LoadOptions } from '../model/engine.js'
import { h2loadResult } from './h2load.js'

const OPTIONS: LoadOptions = {
  origin: 'http://127.0.0.1:1',
  call: { method: 'GET', path: '/', headers: {}, body: null },
  connections: 4,
  warmUpSeconds: 1,
  seconds: 2,
  perSecond: null,
  cpu: null,
  dir: '/nowhere',
}

/** What h2load 1.52.0 wrote after 2 s and 1 s of warm-up, with other counts put in. */
function output(requests: string, statuses: string): string {
  return `Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 3.00s, 18861.50 req/s, 2.41MB/s
requests: ${requests}
status codes: ${statuses}
traffic: 4.82MB (5054882) total, 3.96MB (4152544) headers (space savings 0.00%), 506.90KB (519068) data
                     min         max         mean         sd        +/- sd
time for request:       45us      8.50ms       211us       271us    97.35%
`
}

test('h2load counts answers of 2xx over the measured seconds, and has no spectrum', () => {
  const text = output(
    '37723 total, 37723 started, 37723 done, 37723 succeeded, 0 failed, 0 errored, 0 timeout',
    '37723 2xx, 0 3xx, 0 4xx, 0 5xx',
  )
  assert.deepEqual(h2loadResult(text, OPTIONS), {
    requests: 37_723,
    seconds: 2,
    errors: { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 },
    latency: null,
  })
})

test('other statuses, time-outs and resets of h2load are errors of their classes', () => {
  const text = output(
    '2000 total, 2000 started, 2000 done, 1005 succeeded, 995 failed, 15 errored, 10 timeout',
    '1000 2xx, 5 3xx, 300 4xx, 680 5xx',
  )
  const { requests, errors } = h2loadResult(text, OPTIONS)
  assert.equal(requests, 1000)
  assert.deepEqual(errors, { connect: 0, timeout: 10, reset: 5, status: 985, other: 0 })
})

test('h2load that started nothing could not connect, and a text of something else is refused', () => {
  const nothing = output(
    '0 total, 0 started, 0 done, 0 succeeded, 0 failed, 0 errored, 0 timeout',
    '0 2xx, 0 3xx, 0 4xx, 0 5xx',
  )
  assert.equal(h2loadResult(nothing, OPTIONS).errors.connect, OPTIONS.connections)
  assert.throws(
    () => h2loadResult('Segmentation fault', OPTIONS),
    /h2load wrote no result:\nSegmentation fault/,
  )
})
