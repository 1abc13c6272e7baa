import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Engine, ErrorClass, LoadOptions, LoadResult } from '../model/engine.js'
import { NO_ERRORS, type Spectrum } from '../model/summary.js'
import { versionOf } from '../process/executables.js'
import { coreCount, GRACE_SECONDS, type ProgramEnd, runToSuccess } from '../process/run-command.js'
import { bodyOf, writePrivate } from './call-body.js'

/** oha's message for requests in flight at the end. They are not errors. */
const UNDER_WAY = /aborted due to deadline/

/**
 * oha: a closed loop and a fixed rate. It has no warm-up, so a discarded run precedes the measured one. It reports
 * percentiles without values, so spectra cannot be merged exactly.
 */
export const oha: Engine = {
  name: 'oha',
  hasOpenLoop: true,
  remedy: 'run `cargo install oha --locked` with Rust from rustup.rs; the version in Debian 12 is too old',
  version: () => versionOf('oha', '--version'),
  run: async (options) => {
    const { connections, cpu, warmUpSeconds } = options
    const call = callArguments(options)
    const load = (seconds: number): Promise<ProgramEnd> =>
      runToSuccess(['oha', '-c', String(connections), '-z', `${Math.round(seconds * 1000)}ms`, ...call], {
        cpu,
        limitSeconds: seconds + GRACE_SECONDS,
      })
    if (warmUpSeconds > 0) await load(warmUpSeconds)
    const { stdout, coresUsed } = await load(options.seconds)
    return { ...ohaResult(stdout, options.perSecond !== null), busyShare: coresUsed / coreCount(cpu) }
  },
}

function callArguments(options: LoadOptions): string[] {
  const { method, headers, body, path } = options.call
  const args = ['--no-tui', '--output-format', 'json', '-m', method, '-t', '10s', '-r', '0']
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
  if (body !== null) args.push('-D', writePrivate(options, 'body', bodyOf(body)))
  if (options.perSecond !== null) args.push('-q', String(options.perSecond), '--latency-correction')
  return [...args, '--disable-compression', options.origin + path]
}

const Seconds = Type.Union([Type.Number(), Type.Null()])

/** The part of oha's JSON that is read, in seconds. */
const OhaReport = Type.Object({
  summary: Type.Object({ total: Type.Number(), slowest: Seconds, average: Seconds }),
  latencyPercentiles: Type.Record(Type.String(), Seconds),
  statusCodeDistribution: Type.Record(Type.String(), Type.Number()),
  errorDistribution: Type.Record(Type.String(), Type.Number()),
})

/** Parses oha's JSON. Its latencies include all statuses, so one wrong status invalidates them. */
export function ohaResult(text: string, isCorrected: boolean): Omit<LoadResult, 'busyShare'> {
  const report = Value.Parse(OhaReport, JSON.parse(text))
  const errors = { ...NO_ERRORS }
  let requests = 0
  for (const [status, count] of Object.entries(report.statusCodeDistribution)) {
    if (status.startsWith('2')) requests += count
    else errors.status += count
  }
  for (const [message, count] of Object.entries(report.errorDistribution)) {
    if (!UNDER_WAY.test(message)) errors[classOf(message)] += count
  }
  const latency = errors.status > 0 || requests === 0 ? null : spectrumOf(report, requests, isCorrected)
  return { requests, seconds: report.summary.total, errors, latency }
}

function classOf(message: string): ErrorClass {
  if (/refused|unreachable|dns|lookup|resolve/i.test(message)) return 'connect'
  if (/timed? ?out|timeout/i.test(message)) return 'timeout'
  return /reset|closed|broken pipe|incomplete|eof/i.test(message) ? 'reset' : 'other'
}

function spectrumOf(report: Static<typeof OhaReport>, count: number, isCorrected: boolean): Spectrum {
  const percentiles = Object.entries(report.latencyPercentiles)
    .map(([name, seconds]) => ({ percentile: Number(name.slice(1)), micros: micros(seconds) }))
    .sort((a, b) => a.percentile - b.percentile)
  const { slowest, average } = report.summary
  return {
    isCorrected,
    count,
    meanMicros: micros(average),
    maxMicros: micros(slowest),
    percentiles,
    hdr: null,
  }
}

function micros(seconds: number | null): number {
  return Math.round((seconds ?? 0) * 1e6)
}
