import type { Engine, LoadOrder, LoadResult, Spectrum } from '../model/engine.js'
import { assertInstalled } from './assert-installed.js'
import { type LoadFiles, withLoadFiles } from './load-files.js'
import { coreCount, failure, GRACE_SECONDS, type ProgramEnd, runProgram, versionOf } from './program.js'
import { withoutRedirections } from './redirection.js'
import { emptyHistogram, record, spectrumOf } from './spectrum.js'
import {
  errorClasses,
  readReport,
  TIMEOUT_SECONDS,
  trafficOf,
  type WrkReport,
  wholeSeconds,
  writeScript,
} from './wrk-script.js'

/**
 * wrk: the fastest closed loop. It has no warm-up, so that a run of its own, which is forgotten, comes before the measured
 * one. It takes a redirection for a success, which some calls behind it look for; it does not count an answer that a closing connection cut off, and mixes the
 * latency of refusals with that of answers: with a single wrong status there is no latency.
 */
export const wrk: Engine = {
  name: 'wrk',
  hasOpenLoop: false,
  remedy: 'install the package wrk',
  version: () => versionOf('wrk', '-v', /wrk (\S+)/),
  run: runWrk,
}

async function runWrk(order: LoadOrder): Promise<LoadResult> {
  assertInstalled(wrk)
  if (order.perSecond !== null)
    throw new Error('wrk cannot hold a rate: take autocannon, wrk2 or oha for latency at a fixed rate')
  return withLoadFiles(order.dir, (files) => loaded(order, files))
}

async function loaded(order: LoadOrder, files: LoadFiles): Promise<LoadResult> {
  const threads = Math.min(order.connections, order.cpu === null ? 1 : coreCount(order.cpu))
  const script = writeScript(order, files, true)
  const load = async (seconds: number): Promise<ProgramEnd> => {
    const args = [`-t${threads}`, `-c${order.connections}`, `-d${wholeSeconds(seconds)}s`]
    const command = ['wrk', ...args, '--timeout', `${TIMEOUT_SECONDS}s`, '-s', script.file, order.origin]
    return runProgram(command, { cpu: order.cpu, limitSeconds: seconds + GRACE_SECONDS })
  }
  if (order.warmUpSeconds > 0) await load(order.warmUpSeconds)
  const end = await load(order.seconds)
  if (end.status !== 0) return refusedResult('wrk', order, end)
  const report = readReport(script)
  return withoutRedirections(order, resultOf(report, order.connections, threads))
}

/** wrk asks once before it starts, and gives up where nobody listens. @throws Error when that was not it. */
export function refusedResult(program: string, order: LoadOrder, end: ProgramEnd): LoadResult {
  if (!/unable to connect/.test(end.stderr)) throw failure(program, end)
  const errors = { connect: order.connections, timeout: 0, reset: 0, status: 0, other: 0 }
  return { requests: 0, seconds: order.seconds, errors, latency: null, busyShare: 0 }
}

function resultOf(report: WrkReport, connections: number, threads: number): LoadResult {
  const errors = errorClasses(report)
  return {
    requests: report.requests - errors.status - errors.timeout,
    seconds: report.durationMicros / 1e6,
    errors,
    latency: errors.status > 0 ? null : latencyOf(report, connections),
    ...trafficOf(report),
    busyShare: report.cpuMicros / report.durationMicros / threads,
  }
}

/** What wrk measured, from what it shows. Null when the values are not there or do not add up. */
export function latencyOf(report: WrkReport, connections: number): Spectrum | null {
  if (report.values === null) return null
  const measured = report.requests - report.errors.timeout
  const candidates = [report.values, uncorrected(report.values, expectedMicros(report, connections))]
  const values = candidates.find((list) => list.reduce((sum, [, count]) => sum + count, 0) === measured)
  if (values === undefined) return null
  const histogram = emptyHistogram()
  for (const [micros, count] of values) record(histogram, micros, count)
  return spectrumOf(histogram, false)
}

/** The interval between two requests of a connection as wrk computes it, in whole numbers. */
function expectedMicros(report: WrkReport, connections: number): number {
  const perConnection = Math.floor(report.requests / connections)
  return perConnection === 0 ? Number.POSITIVE_INFINITY : Math.floor(report.durationMicros / perConnection)
}

/**
 * Takes back wrk's guess of what a closed loop left out. For every value v it adds v-e, v-2e and so on down to the mean
 * interval e, although nothing was planned in a closed loop: throughput and latency at saturation would not fit together.
 * A shown count above e is the measured one and all of the value e further up, so that the difference is what was measured.
 */
function uncorrected(
  values: readonly (readonly [number, number])[],
  expected: number,
): readonly (readonly [number, number])[] {
  const shown = new Map(values)
  return values
    .map(([micros, count]) => {
      const added = micros > expected ? (shown.get(micros + expected) ?? 0) : 0
      return [micros, count - added] as const
    })
    .filter(([, count]) => count > 0)
}
