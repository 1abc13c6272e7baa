import type { SoakFigures, Trial } from '../model/trial.js'

/** What a trial saw, before it is judged. */
export type Seen = Omit<Trial, 'failures' | 'invalid'>

/** What may be lost in a trial, and what has to arrive; without anything said nothing may be lost. */
export interface Expectation {
  /** Requests that may end without an answer. */
  readonly lostRequests: number
  /** Requests that may be sent once more, although their connections were open when they came. */
  readonly sentAgain: number
  /** What answers may have. */
  readonly statuses: readonly number[]
  /** Answers of 500 and above that the gateway gives by itself: just so many. */
  readonly gatewayErrors: number
  /** Those that come from the upstream: just so many. */
  readonly upstreamErrors: number
  /** Records that may be lost, whether the log counts them or not. */
  readonly lostRecords: number
  /** Workers that take the place of others: just so many. */
  readonly newWorkers: number
  /** How many more requests the origins may get than the gateway. */
  readonly moreRequests: number
  /** How many requests a place may get that nobody should ask any more. */
  readonly strayRequests: number
}

/** Nothing is lost, and nothing arrives that nobody has sent. */
export const NOTHING_LOST: Expectation = {
  ...{ lostRequests: 0, sentAgain: 0, statuses: [200], gatewayErrors: 0, upstreamErrors: 0 },
  ...{ lostRecords: 0, newWorkers: 0, moreRequests: 0, strayRequests: 0 },
}

/** What was lost in a trial, or came that nobody had sent; empty: nothing. */
export function failuresOf(seen: Seen, expected: Expectation): string[] {
  return [
    ...requestFailures(seen, expected),
    ...answerFailures(seen, expected),
    ...originFailures(seen, expected),
    ...recordFailures(seen, expected),
    ...asideFailures(seen),
    ...workerFailures(seen, expected),
    ...soakFailures(seen),
  ]
}

function requestFailures(seen: Seen, expected: Expectation): string[] {
  const { errors, answers, requests, sentAgain, crossed = 0 } = seen
  const unanswered = errors.connect + errors.reset + errors.timeout + errors.other
  const ended = sumOf(answers) + errors.reset + errors.timeout
  const cutOff = sentAgain - crossed
  const parts = [
    `${errors.connect} could not connect, ${errors.reset} were cut off, ${errors.timeout} were not answered in time`,
    `${errors.other} were not sent`,
  ]
  return [
    ...unless(
      unanswered <= expected.lostRequests,
      `${unanswered} requests had no answer, ${expected.lostRequests} may have none: ${parts.join(', ')}`,
    ),
    ...unless(
      cutOff <= expected.sentAgain,
      `${cutOff} requests on kept connections ended without an answer and were sent again, ${expected.sentAgain} may be`,
    ),
    ...unless(ended === requests, `${requests} requests were sent, and ${ended} ended`),
  ]
}

function answerFailures(seen: Seen, expected: Expectation): string[] {
  const { answers, statuses = {}, wrongBodies = 0, unasked = 0, gatewayErrors, upstreamErrors } = seen
  const others = Object.entries(statuses).filter(([status]) => !expected.statuses.includes(Number(status)))
  return [
    ...others.map(([status, count]) => `${count} answers had the status ${status}, which none was to have`),
    ...unless(wrongBodies === 0, `${wrongBodies} answers had another body than the origin sends`),
    ...unless(unasked === 0, `bytes that no request had asked for came ${unasked} times`),
    ...unless(
      gatewayErrors === expected.gatewayErrors,
      `the gateway answered ${gatewayErrors} requests with an error of its own, ${expected.gatewayErrors} were to be`,
    ),
    ...unless(
      upstreamErrors === expected.upstreamErrors,
      `${upstreamErrors} errors of the upstream arrived, ${expected.upstreamErrors} were sent`,
    ),
    ...unless((answers['2xx'] ?? 0) > 0, 'no request was answered well'),
  ]
}

function originFailures(seen: Seen, { moreRequests, strayRequests }: Expectation): string[] {
  const { origin, requests, answers, upstreamErrors } = seen
  const more = origin.requests - requests
  const itsAnswers = (answers['2xx'] ?? 0) + upstreamErrors
  return [
    ...unless(
      itsAnswers <= origin.requests,
      `${itsAnswers} answers of the origin arrived, which got ${origin.requests} requests`,
    ),
    ...unless(more <= moreRequests, `the origin got ${more} requests more than the gateway`),
    ...unless(
      origin.stray <= strayRequests,
      `${origin.stray} requests went where nobody should ask any more, ${strayRequests} may`,
    ),
  ]
}

function recordFailures({ log }: Seen, { lostRecords }: Expectation): string[] {
  if (log === null) return []
  const { missing, dropped, dead, repeated } = log
  const lost = Math.max(0, missing) + dropped
  return [
    ...unless(
      lost <= lostRecords,
      `${lost} records are lost, ${lostRecords} may be: ${dropped} the log knows of, ${Math.max(0, missing)} nobody does`,
    ),
    ...unless(missing >= -lostRecords, `${-missing} records more than requests`),
    ...unless(dead === 0, `${dead} records were refused for good`),
    ...unless(repeated === 0, `${repeated} records are there twice`),
  ]
}

/** Nothing of what is done can have cost these. */
function asideFailures({ aside }: Seen): string[] {
  if (aside === undefined) return []
  const { unanswered, cutOff, missing } = aside
  const other = 'that had nothing to do with what was done'
  return [
    ...unless(unanswered === 0, `${unanswered} requests ${other} had no answer`),
    ...unless(cutOff === 0, `${cutOff} requests ${other} ended without an answer and were sent again`),
    ...unless(missing <= 0, `${missing} records of requests ${other} are lost`),
    ...unless(missing >= 0, `${-missing} records more than requests ${other}`),
  ]
}

function workerFailures(seen: Seen, { newWorkers }: Expectation): string[] {
  return unless(
    seen.newWorkers === newWorkers,
    `${seen.newWorkers} workers are others than in the beginning, ${newWorkers} were to be`,
  )
}

/** Below this the first growth of a heap looks like one that never ends. */
const MIN_SLOPE_SECONDS = 3600
/** A heap that surely grows by this share of itself an hour doubles within a day. */
const HEAP_GROWTH_PER_HOUR = 1 / 24
/** Of a normal distribution, within which 95 of 100 slopes are. */
const SURE_ERRORS = 2
/** More files than this, and than a tenth, are a leak, once connections to the upstream have had time to be as many as the load takes. */
const MORE_FILES = 32
const MIN_FILES_SECONDS = 60

function soakFailures({ soak }: Seen): string[] {
  if (soak === undefined) return []
  const { failedReloads, reloads, files, samples, spanSeconds } = soak
  const [before, after] = files
  return [
    ...unless(failedReloads === 0, `${failedReloads} of ${reloads + failedReloads} reloads failed`),
    ...unless(reloads > 0, 'nothing was reloaded'),
    ...unless(samples > 0, 'memory and open files could not be seen'),
    ...heapFailures(soak),
    ...unless(
      spanSeconds < MIN_FILES_SECONDS || after <= before + Math.max(MORE_FILES, before / 10),
      `open files grew from ${before} to ${after}`,
    ),
  ]
}

function heapFailures({ heap, spanSeconds }: SoakFigures): string[] {
  if (heap === null || spanSeconds < MIN_SLOPE_SECONDS) return []
  const least = heap.bytesPerHour - SURE_ERRORS * heap.bytesPerHourError
  return unless(
    least <= heap.bytes * HEAP_GROWTH_PER_HOUR,
    `the heaps grow by at least ${Math.round(least)} bytes an hour from ${Math.round(heap.bytes)}`,
  )
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function unless(isWell: boolean, failure: string): string[] {
  return isWell ? [] : [failure]
}
