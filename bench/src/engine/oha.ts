import type { Engine, ErrorClass, LoadOrder, LoadResult, Spectrum } from '../model/engine.js'
import { assertInstalled } from './assert-installed.js'
import { bodyOf } from './call-body.js'
import { type LoadFiles, withLoadFiles } from './load-files.js'
import { coreCount, GRACE_SECONDS, type ProgramEnd, runToSuccess, versionOf } from './program.js'

const TIMEOUT = '10s'
/** What oha says of the requests that were under way at the end: they are nobody's error. */
const UNDER_WAY = /aborted due to deadline/

/**
 * oha: a closed loop and a rate with its plan. It has no warm-up, so that a run of its own, which is forgotten, comes
 * before the measured one. It shows percentiles and no values, so that spectra cannot be merged exactly.
 */
export const oha: Engine = {
  name: 'oha',
  hasOpenLoop: true,
  remedy: 'run `cargo install oha --locked`, with a Rust from rustup.rs because that of Debian 12 is too old',
  version: () => versionOf('oha', '--version', /oha (\S+)/),
  run: runOha,
}

async function runOha(order: LoadOrder): Promise<LoadResult> {
  assertInstalled(oha)
  return withLoadFiles(order.dir, (files) => loaded(order, files))
}

async function loaded(order: LoadOrder, files: LoadFiles): Promise<LoadResult> {
  const call = callArguments(order, files)
  const load = async (seconds: number): Promise<ProgramEnd> => {
    const size = ['-c', String(order.connections), '-z', `${Math.round(seconds * 1000)}ms`]
    return runToSuccess(['oha', ...size, ...call], {
      cpu: order.cpu,
      limitSeconds: seconds + GRACE_SECONDS,
    })
  }
  if (order.warmUpSeconds > 0) await load(order.warmUpSeconds)
  const { stdout, coresUsed } = await load(order.seconds)
  return { ...ohaResult(stdout, order.perSecond !== null), busyShare: coresUsed / coreCount(order.cpu) }
}

function callArguments(order: LoadOrder, files: LoadFiles): string[] {
  const { method, headers, body, path } = order.call
  const args = ['--no-tui', ...jsonOption(), '-m', method, '-t', TIMEOUT, '-r', '0', '--disable-compression']
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  if (body !== null) args.push('-D', files.write('body', bodyOf(body)))
  if (order.perSecond !== null) args.push('-q', String(order.perSecond), '--latency-correction')
  return [...args, order.origin + path]
}

/** Versions up to 1.8 had an option of its own for JSON. */
function jsonOption(): string[] {
  const isFormat = versionOf('oha', '--help', /(--output-format)/) === '--output-format'
  return isFormat ? ['--output-format', 'json'] : ['--json']
}

/** The part of oha's JSON that is read: seconds, as fractions. */
interface OhaReport {
  readonly summary: {
    readonly total: number
    readonly slowest: number | null
    readonly fastest: number | null
    readonly average: number | null
    /** Bytes of bodies. */
    readonly totalData?: number
  }
  readonly latencyPercentiles: Readonly<Record<string, number | null>>
  readonly statusCodeDistribution: Readonly<Record<string, number>>
  readonly errorDistribution: Readonly<Record<string, number>>
}

/** What oha's JSON says. The latencies hold those of every status, so that one wrong status leaves none. */
export function ohaResult(text: string, isCorrected: boolean): Omit<LoadResult, 'busyShare'> {
  const report = JSON.parse(text) as OhaReport
  const errors: Record<ErrorClass, number> = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
  let requests = 0
  for (const [status, count] of Object.entries(report.statusCodeDistribution)) {
    if (/^2/.test(status)) requests += count
    else errors.status += count
  }
  for (const [message, count] of Object.entries(report.errorDistribution)) {
    if (!UNDER_WAY.test(message)) errors[classOf(message)] += count
  }
  const latency = errors.status > 0 || requests === 0 ? null : spectrumOf(report, requests, isCorrected)
  const { total, totalData } = report.summary
  const traffic = totalData === undefined ? {} : { receivedBytes: totalData }
  return { requests, seconds: total, errors, latency, ...traffic }
}

function classOf(message: string): ErrorClass {
  if (/refused|unreachable|dns|lookup|resolve/i.test(message)) return 'connect'
  if (/timed? ?out|timeout/i.test(message)) return 'timeout'
  return /reset|closed|broken pipe|incomplete|eof/i.test(message) ? 'reset' : 'other'
}

function spectrumOf(report: OhaReport, count: number, isCorrected: boolean): Spectrum {
  const { slowest, fastest, average } = report.summary
  const percentiles = Object.entries(report.latencyPercentiles)
    .map(([name, seconds]) => ({ percentile: Number(name.slice(1)), micros: micros(seconds) }))
    .sort((a, b) => a.percentile - b.percentile)
  percentiles.unshift({ percentile: 0, micros: micros(fastest) })
  const curve = [...percentiles, { percentile: 100, micros: micros(slowest) }]
  return {
    isCorrected,
    count,
    meanMicros: micros(average),
    stdevMicros: deviationOf(curve, micros(average)),
    maxMicros: micros(slowest),
    percentiles,
    hdr: null,
  }
}

/**
 * oha gives no standard deviation. This one takes the values between two percentiles as evenly spread: about right, and
 * somewhat too large where the last percentiles are few values.
 */
function deviationOf(
  curve: readonly { readonly percentile: number; readonly micros: number }[],
  mean: number,
): number {
  const variance = curve.slice(1).reduce((sum, { percentile, micros: to }, i) => {
    const from = curve[i]!.micros - mean
    const upTo = to - mean
    const share = (percentile - curve[i]!.percentile) / 100
    return sum + (share * (from * from + from * upTo + upTo * upTo)) / 3
  }, 0)
  return Math.sqrt(variance)
}

function micros(seconds: number | null): number {
  return Math.round((seconds ?? 0) * 1e6)
}
