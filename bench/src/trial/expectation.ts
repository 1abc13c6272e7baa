import type { SoakFigures, TrialPhase } from '../model/trial.js'
import { type Expectation, NOTHING_LOST, type Observed } from './fault.js'

/** Minimum duration in seconds for judging heap growth: a new heap always grows. */
const MIN_SLOPE_SECONDS = 3600
/** Maximum heap growth per hour, as a share of the heap. More would double it within a day. */
const HEAP_GROWTH_PER_HOUR = 1 / 24
/** Number of standard errors that include 95 % of slopes. */
const SURE_ERRORS = 2
/** Maximum number of additional open files, unless it is less than a tenth. */
const MORE_FILES = 32
const MIN_FILES_SECONDS = 60
/** Minimum share of the planned load. Below it the trial is not valid. */
const HELD_SHARE = 0.9

/** Returns the losses and unexpected data of a trial. Empty if there were none. */
export function failuresOf(observed: Observed, expects: Partial<Expectation> = {}): string[] {
  const expected = { ...NOTHING_LOST, ...expects }
  return failedOf([
    ...requestChecks(observed, expected),
    ...answerChecks(observed, expected),
    ...originChecks(observed, expected),
    ...recordChecks(observed, expected),
    [
      observed.newWorkers === expected.newWorkers,
      `${observed.newWorkers} workers were replaced, ${expected.newWorkers} were expected`,
    ],
    ...(observed.soak === null ? [] : soakChecks(observed.soak)),
  ])
}

type Check = readonly [isWell: boolean, failure: string]

function failedOf(checks: readonly Check[]): string[] {
  return checks.flatMap(([isWell, failure]) => (isWell ? [] : [failure]))
}

function requestChecks(observed: Observed, expected: Expectation): Check[] {
  const { lost, statuses, requests, sentAgain, phases } = observed
  const unanswered = sumOf(lost)
  const ended = sumOf(statuses) + lost.reset + lost.timeout
  const early = phases.find(({ name }) => name === 'before')?.failed ?? 0
  return [
    [
      unanswered <= expected.lostRequests,
      `${unanswered} requests had no response, ${expected.lostRequests} are allowed: ${lost.connect} could not connect, ${lost.reset} were cut off, ${lost.timeout} timed out, ${lost.unsent} were not sent`,
    ],
    [
      sentAgain <= expected.sentAgain,
      `${sentAgain} requests on kept-alive connections had no response and were sent again, ${expected.sentAgain} are allowed`,
    ],
    [ended === requests, `${requests} requests were sent, and ${ended} ended`],
    [early === 0, `${early} requests failed before the fault`],
  ]
}

function answerChecks(observed: Observed, expected: Expectation): Check[] {
  const { statuses, wrongBodies, unasked, gatewayErrors, upstreamErrors } = observed
  const others = Object.entries(statuses).filter(([status]) => !expected.statuses.includes(Number(status)))
  return [
    ...others.map(
      ([status, count]): Check => [false, `${count} responses had the unexpected status ${status}`],
    ),
    [wrongBodies === 0, `${wrongBodies} responses had an unexpected body`],
    [unasked === 0, `unexpected bytes arrived ${unasked} times`],
    [
      gatewayErrors === expected.gatewayErrors,
      `the gateway itself answered ${gatewayErrors} requests with an error, ${expected.gatewayErrors} were expected`,
    ],
    [
      upstreamErrors === expected.upstreamErrors,
      `${upstreamErrors} errors of the upstream arrived, ${expected.upstreamErrors} were sent`,
    ],
    [(statuses['200'] ?? 0) > 0, 'no request got a good response'],
  ]
}

function originChecks(observed: Observed, { moreRequests, strayRequests }: Expectation): Check[] {
  const { origin, requests, statuses, upstreamErrors } = observed
  const more = origin.requests - requests
  const answers = (statuses['200'] ?? 0) + upstreamErrors
  return [
    [
      answers <= origin.requests,
      `${answers} responses of the origin arrived for ${origin.requests} requests`,
    ],
    [more <= moreRequests, `the origin got ${more} more requests than the gateway`],
    [
      origin.stray <= strayRequests,
      `${origin.stray} requests went to the old address, ${strayRequests} are allowed`,
    ],
  ]
}

function recordChecks({ log }: Observed, { lostRecords }: Expectation): Check[] {
  if (log === null) return []
  const { missing, dropped, dead, repeated } = log
  const unknown = Math.max(0, missing)
  return [
    [
      unknown + dropped <= lostRecords,
      `${unknown + dropped} records are lost, ${lostRecords} are allowed: the log has counted ${dropped}, but not ${unknown}`,
    ],
    [missing >= -lostRecords, `there are ${-missing} more records than requests`],
    [dead === 0, `${dead} records were refused permanently`],
    [repeated === 0, `${repeated} records are duplicates`],
  ]
}

function soakChecks({ failedReloads, reloads, files, samples, spanSeconds, heap }: SoakFigures): Check[] {
  const [before, after] = files
  const growth = heap === null ? 0 : heap.bytesPerHour - SURE_ERRORS * heap.errorPerHour
  return [
    [failedReloads === 0, `${failedReloads} of ${reloads + failedReloads} reloads failed`],
    [reloads > 0, 'nothing was reloaded'],
    [samples > 0, 'memory and open files could not be measured'],
    [
      heap === null || spanSeconds < MIN_SLOPE_SECONDS || growth <= heap.bytes * HEAP_GROWTH_PER_HOUR,
      `the heaps grow by at least ${Math.round(growth)} bytes an hour from ${Math.round(heap?.bytes ?? 0)}`,
    ],
    [
      spanSeconds < MIN_FILES_SECONDS || after <= before + Math.max(MORE_FILES, before / 10),
      `open files grew from ${before} to ${after}`,
    ],
  ]
}

/** Returns the reasons why a trial is not valid. Empty if it is. */
export function invalidityOf(
  phases: readonly TrialPhase[],
  targetPerSecond: number,
  isCutShort: boolean,
): string[] {
  if (isCutShort) {
    const lasted = phases.reduce((sum, { seconds }) => sum + seconds, 0)
    return [`it was stopped after ${Math.floor(lasted)} s`]
  }
  return phases.flatMap(({ name, sent, seconds }) =>
    sent / seconds >= targetPerSecond * HELD_SHARE
      ? []
      : [`only ${Math.round(sent / seconds)} of ${targetPerSecond} requests/s were sent ${name} it`],
  )
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
