import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SoakFigures } from '../model/trial.js'
import { sampleTrial } from '../testing/sample-trial.js'
import { failuresOf, NOTHING_LOST, type Seen } from './judgement.js'

/** As many as the sample trial has requests. */
const ALL = 42_000
const ERRORS = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
const LOG = { documents: 1000, dead: 0, dropped: 0, repeated: 0, missing: 0 }
const ASIDE = { unanswered: 0, cutOff: 0, missing: 0 }
const NOT_ASKED = { requests: 0, failed: 0, slow: 0, stray: 0 }
const SOAK: SoakFigures = {
  ...{ reloads: 1440, failedReloads: 0, samples: 1296, spanSeconds: 77_000 },
  heap: { bytes: 24e6, bytesPerHour: 1e4, bytesPerHourError: 1e4 },
  rssBytes: [1e8, 1e8],
  files: [200, 204],
}

function judged(changes: Partial<Seen>, expected = NOTHING_LOST): string {
  return failuresOf(sampleTrial({ newWorkers: 0, ...changes }), expected).join('\n')
}

test('a trial in which nothing was lost is passed', () => {
  assert.equal(judged({ log: LOG, soak: SOAK }), '')
})

const LOSSES: readonly (readonly [string, Partial<Seen>, RegExp])[] = [
  [
    'a request without an answer',
    { errors: { ...ERRORS, reset: 1 }, answers: { '2xx': ALL - 1 } },
    /^1 requests had no answer, 0 may.*$/,
  ],
  [
    'a request that was sent again',
    { sentAgain: 3, crossed: 2 },
    /^1 requests on kept connections ended without an answer and were sent again, 0 may be$/,
  ],
  ['a request that did not end', { requests: ALL + 1 }, /^42001 requests were sent, and 42000 ended$/],
  ['an answer too many', { answers: { '2xx': ALL + 1 } }, /^42000 requests were sent, and 42001 ended\n/],
  [
    'one that was not sent',
    { errors: { ...ERRORS, other: 2 } },
    /^2 requests had no answer.*2 were not sent$/,
  ],
  [
    'a refusal',
    { statuses: { '200': 9, '404': 1 } },
    /^1 answers had the status 404, which none was to have$/,
  ],
  ['another good answer', { statuses: { '200': 9, '204': 1 } }, /^1 answers had the status 204, which none/],
  ['a changed body', { wrongBodies: 1 }, /^1 answers had another body than the origin sends$/],
  ['bytes that nobody asked for', { unasked: 2 }, /^bytes that no request had asked for came 2 times$/],
  [
    'an error of the gateway',
    { gatewayErrors: 1 },
    /^the gateway answered 1 requests with an error.*, 0 were/,
  ],
  [
    'an error of the upstream',
    { upstreamErrors: 3, answers: { '2xx': ALL - 3, '5xx': 3 } },
    /^3 errors of the upstream arrived, 0 were sent$/,
  ],
  [
    'no good answer at all',
    { answers: {}, requests: 0, origin: NOT_ASKED },
    /^no request was answered well$/,
  ],
  [
    'more requests behind than before',
    { origin: { ...NOT_ASKED, requests: ALL + 1 } },
    /^the origin got \d+ requests more than the gateway$/,
  ],
  ['a place that was left', { origin: { ...NOT_ASKED, requests: ALL, stray: 1 } }, /^1 requests went where/],
  ['a record that is nowhere', { log: { ...LOG, missing: 1 } }, /^1 records are lost, 0 may be: 0 the log/],
  [
    'a record that the log dropped',
    { log: { ...LOG, dropped: 2 } },
    /^2 records are lost.*: 2 the log knows/,
  ],
  ['a record too many', { log: { ...LOG, missing: -1 } }, /^1 records more than requests$/],
  [
    'an unanswered request aside',
    { aside: { ...ASIDE, unanswered: 2 } },
    /^2 requests that had nothing to do with what was done had no answer$/,
  ],
  [
    'one that was cut off aside',
    { aside: { ...ASIDE, cutOff: 1 } },
    /^1 requests that had nothing to do with/,
  ],
  [
    'a record that is missing aside',
    { aside: { ...ASIDE, missing: 3 } },
    /^3 records of requests that had .* are lost$/,
  ],
  ['a record too many aside', { aside: { ...ASIDE, missing: -1 } }, /^1 records more than requests that had/],
  ['a dead letter', { log: { ...LOG, dead: 1 } }, /^1 records were refused for good$/],
  ['a record that is there twice', { log: { ...LOG, repeated: 1 } }, /^1 records are there twice$/],
  ['a worker that died', { newWorkers: 1 }, /^1 workers are others than in the beginning, 0 were to be$/],
  ['a reload that failed', { soak: { ...SOAK, failedReloads: 1 } }, /^1 of 1441 reloads failed$/],
  ['no reload', { soak: { ...SOAK, reloads: 0 } }, /^nothing was reloaded$/],
  ['files that grow', { soak: { ...SOAK, files: [200, 233] } }, /^open files grew from 200 to 233$/],
  ['no look at memory', { soak: { ...SOAK, samples: 0, heap: null } }, /^memory and open files could not/],
]

for (const [what, changes, reason] of LOSSES) {
  test(`a trial fails for ${what}`, () => {
    assert.match(judged(changes), reason)
  })
}

test('what may be lost is a bound, and what has to arrive is exact', () => {
  const expected = { ...NOTHING_LOST, lostRequests: 2, sentAgain: 4, lostRecords: 3, upstreamErrors: 5 }
  const within = {
    errors: { ...ERRORS, reset: 2 },
    answers: { '2xx': ALL - 7, '5xx': 5 },
    sentAgain: 4,
    log: { ...LOG, missing: 1, dropped: 2 },
    upstreamErrors: 5,
  }
  assert.equal(judged(within, expected), '')
  assert.match(
    judged({ ...within, errors: { ...ERRORS, reset: 3 }, requests: ALL + 1 }, expected),
    /^3 requests had no answer, 2/,
  )
  assert.match(
    judged({ ...within, log: { ...LOG, missing: 2, dropped: 2 } }, expected),
    /^4 records are lost/,
  )
  assert.match(
    judged({ ...within, upstreamErrors: 4 }, expected),
    /^4 errors of the upstream arrived, 5 were/,
  )
})

test('a heap fails once it surely grows by more than a twenty-fourth an hour, and is watched for an hour', () => {
  const grown = { bytes: 24e6, bytesPerHour: 1.3e6, bytesPerHourError: 1e5 }
  assert.match(
    judged({ soak: { ...SOAK, heap: grown } }),
    /^the heaps grow by at least 1100000 bytes an hour/,
  )
  assert.equal(judged({ soak: { ...SOAK, heap: { ...grown, bytesPerHourError: 2e5 } } }), '')
  assert.equal(judged({ soak: { ...SOAK, heap: grown, spanSeconds: 3599 } }), '')
})
