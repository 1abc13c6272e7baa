import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SoakFigures } from '../model/trial.js'
import { sampleTrial } from '../testing/samples.js'
import { failuresOf, invalidityOf } from './expectation.js'
import { type Expectation, NOTHING_LOST, type Observed } from './fault.js'

/** As many as the sample trial has requests. */
const ALL = 42_000
const NONE_LOST = { connect: 0, reset: 0, timeout: 0, unsent: 0 }
const LOG = { documents: 1000, dead: 0, dropped: 0, repeated: 0, missing: 0 }
const NOT_ASKED = { requests: 0, failed: 0, slow: 0, stray: 0 }
const SOAK: SoakFigures = {
  ...{ reloads: 1440, failedReloads: 0, samples: 1296, spanSeconds: 77_000 },
  heap: { bytes: 24e6, bytesPerHour: 1e4, errorPerHour: 1e4 },
  rssBytes: [1e8, 1e8],
  files: [200, 204],
}

function failureText(changes: Partial<Observed>, expected: Expectation = NOTHING_LOST): string {
  return failuresOf(sampleTrial({ newWorkers: 0, ...changes }), expected).join('\n')
}

test('a trial in which nothing was lost is passed', () => {
  assert.equal(failureText({ log: LOG, soak: SOAK }), '')
})

const LOSSES: readonly (readonly [string, Partial<Observed>, RegExp])[] = [
  [
    'a request without an answer',
    { lost: { ...NONE_LOST, reset: 1 }, statuses: { '200': ALL - 1 } },
    /^1 requests had no response, 0 are.*$/,
  ],
  [
    'a request that was sent again',
    { sentAgain: 1 },
    /^1 requests on kept-alive connections had no response and were sent again, 0 are allowed$/,
  ],
  ['a request that did not end', { requests: ALL + 1 }, /^42001 requests were sent, and 42000 ended$/],
  ['an answer too many', { statuses: { '200': ALL + 1 } }, /^42000 requests were sent, and 42001 ended\n/],
  [
    'one that was not sent',
    { lost: { ...NONE_LOST, unsent: 2 } },
    /^2 requests had no response.*2 were not sent$/,
  ],
  ['a refusal', { statuses: { '200': ALL - 1, '404': 1 } }, /^1 responses had the unexpected status 404$/],
  [
    'another good answer',
    { statuses: { '200': ALL - 1, '204': 1 } },
    /^1 responses had the unexpected status 204/,
  ],
  ['a changed body', { wrongBodies: 1 }, /^1 responses had an unexpected body$/],
  ['bytes that nobody asked for', { unasked: 2 }, /^unexpected bytes arrived 2 times$/],
  [
    'an error of the gateway',
    { gatewayErrors: 1 },
    /^the gateway itself answered 1 requests with an error, 0 were/,
  ],
  ['an error of the upstream', { upstreamErrors: 3 }, /^3 errors of the upstream arrived, 0 were sent$/m],
  [
    'no good answer at all',
    { statuses: {}, requests: 0, origin: NOT_ASKED },
    /^no request got a good response$/,
  ],
  [
    'more requests after than before',
    { origin: { ...NOT_ASKED, requests: ALL + 1 } },
    /^the origin got \d+ more requests than the gateway$/,
  ],
  [
    'an address that was left',
    { origin: { ...NOT_ASKED, requests: ALL, stray: 1 } },
    /^1 requests went to the old address/,
  ],
  [
    'a record that is nowhere',
    { log: { ...LOG, missing: 1 } },
    /^1 records are lost, 0 are allowed: the log has counted 0/,
  ],
  [
    'a record that the log dropped',
    { log: { ...LOG, dropped: 2 } },
    /^2 records are lost.*: the log has counted 2/,
  ],
  ['a record too many', { log: { ...LOG, missing: -1 } }, /^there are 1 more records than requests$/],
  ['a dead letter', { log: { ...LOG, dead: 1 } }, /^1 records were refused permanently$/],
  ['a record that is there twice', { log: { ...LOG, repeated: 1 } }, /^1 records are duplicates$/],
  ['a worker that died', { newWorkers: 1 }, /^1 workers were replaced, 0 were expected$/],
  ['a reload that failed', { soak: { ...SOAK, failedReloads: 1 } }, /^1 of 1441 reloads failed$/],
  ['no reload', { soak: { ...SOAK, reloads: 0 } }, /^nothing was reloaded$/],
  ['files that grow', { soak: { ...SOAK, files: [200, 233] } }, /^open files grew from 200 to 233$/],
  ['no look at memory', { soak: { ...SOAK, samples: 0, heap: null } }, /^memory and open files could not/],
]

for (const [what, changes, reason] of LOSSES) {
  test(`a trial fails for ${what}`, () => {
    assert.match(failureText(changes), reason)
  })
}

test('what may be lost is a bound, and what has to arrive is exact', () => {
  const expected = { ...NOTHING_LOST, lostRequests: 2, sentAgain: 4, lostRecords: 3, upstreamErrors: 5 }
  const within = {
    lost: { ...NONE_LOST, reset: 2 },
    statuses: { '200': ALL - 2 },
    sentAgain: 4,
    log: { ...LOG, missing: 1, dropped: 2 },
    upstreamErrors: 5,
    origin: { ...NOT_ASKED, requests: ALL + 3 },
  }
  const more = { ...expected, moreRequests: 3 }
  assert.equal(failureText(within, more), '')
  const cut = { ...within, lost: { ...NONE_LOST, reset: 3 }, requests: ALL + 1 }
  assert.match(failureText(cut, more), /^3 requests had no response, 2/)
  assert.match(
    failureText({ ...within, log: { ...LOG, missing: 2, dropped: 2 } }, more),
    /^4 records are lost/,
  )
  assert.match(
    failureText({ ...within, upstreamErrors: 4 }, more),
    /^4 errors of the upstream arrived, 5 were/,
  )
})

test('a request that fails before anything is done fails every trial', () => {
  const [first, ...rest] = sampleTrial().phases
  assert.match(
    failureText({ phases: [{ ...first!, failed: 1 }, ...rest] }),
    /^1 requests failed before the fault/,
  )
})

test('a load that was not held, or that was stopped, is no result', () => {
  const { phases } = sampleTrial()
  assert.deepEqual(invalidityOf(phases, 600, false), [])
  assert.deepEqual(invalidityOf(phases, 700, false)[0], 'only 600 of 700 requests/s were sent before it')
  assert.deepEqual(invalidityOf(phases, 600, true), ['it was stopped after 60 s'])
})

test('a heap fails once it surely grows by more than a twenty-fourth an hour, and is watched for an hour', () => {
  const grown = { bytes: 24e6, bytesPerHour: 1.3e6, errorPerHour: 1e5 }
  assert.match(
    failureText({ soak: { ...SOAK, heap: grown } }),
    /^the heaps grow by at least 1100000 bytes an hour/,
  )
  assert.equal(failureText({ soak: { ...SOAK, heap: { ...grown, errorPerHour: 2e5 } } }), '')
  assert.equal(failureText({ soak: { ...SOAK, heap: grown, spanSeconds: 3599 } }), '')
})
