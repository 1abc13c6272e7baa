import type { Engine, LoadOrder, LoadResult, Spectrum } from '../model/engine.js'
import { assertInstalled } from './assert-installed.js'
import { type LoadFiles, withLoadFiles } from './load-files.js'
import { coreCount, GRACE_SECONDS, type ProgramEnd, runProgram, versionOf } from './program.js'
import { withoutRedirections } from './redirection.js'
import { refusedResult } from './wrk.js'
import {
  errorClasses,
  readReport,
  TIMEOUT_SECONDS,
  trafficOf,
  wholeSeconds,
  writeScript,
} from './wrk-script.js'

/** More than any server answers: wrk2 always wants a rate, and at this one each connection asks as fast as it can. */
const NO_RATE = 100_000_000

/**
 * wrk2: a closed loop and a rate with its plan. It has no warm-up, so that a run of its own, which is forgotten, comes
 * before the measured one; of a run longer than ten seconds it drops the latencies of the first ten besides. It opens 200
 * connections a second and thread, so that many connections want a long run, and its times are up to a millisecond late.
 * Of redirections and the latencies of refusals the same holds as with wrk.
 */
export const wrk2: Engine = {
  name: 'wrk2',
  hasOpenLoop: true,
  remedy:
    'no package has it; build github.com/giltene/wrk2 and put its program wrk on the PATH under the name wrk2',
  version: () => versionOf('wrk2', '-v', /wrk2? (\S+)/),
  run: runWrk2,
}

async function runWrk2(order: LoadOrder): Promise<LoadResult> {
  assertInstalled(wrk2)
  return withLoadFiles(order.dir, (files) => loaded(order, files))
}

async function loaded(order: LoadOrder, files: LoadFiles): Promise<LoadResult> {
  const threads = Math.min(order.connections, order.cpu === null ? 1 : coreCount(order.cpu))
  const script = writeScript(order, files, false)
  const load = async (seconds: number): Promise<ProgramEnd> => {
    const size = [`-t${threads}`, `-c${order.connections}`, `-d${wholeSeconds(seconds)}s`]
    const rate = [`-R${order.perSecond ?? NO_RATE}`, order.perSecond === null ? '--u_latency' : '--latency']
    const rest = ['--timeout', `${TIMEOUT_SECONDS}s`, '-s', script.file, order.origin]
    return runProgram(['wrk2', ...size, ...rate, ...rest], {
      cpu: order.cpu,
      limitSeconds: seconds + GRACE_SECONDS,
    })
  }
  if (order.warmUpSeconds > 0) await load(order.warmUpSeconds)
  const end = await load(order.seconds)
  if (end.status !== 0) return refusedResult('wrk2', order, end)
  const report = readReport(script)
  const errors = errorClasses(report)
  return withoutRedirections(order, {
    requests: report.requests - errors.status,
    seconds: report.durationMicros / 1e6,
    errors,
    latency: errors.status > 0 ? null : wrk2Spectrum(end.stdout, order.perSecond !== null),
    ...trafficOf(report),
    busyShare: report.cpuMicros / report.durationMicros / threads,
  })
}

/** Below this share of the values no row of wrk2 stands; rows from there on are read. */
const ROW = /^\s+(\d+\.\d+)\s+(\d\.\d+)\s+(\d+)\s+(?:\d+\.\d+|inf)\s*$/gm
const WANTED = [10, 25, 50, 75, 90, 95, 97.5, 98, 99, 99.5, 99.9, 99.95, 99.99, 99.999] as const

/**
 * The spectrum that wrk2 prints: milliseconds with three places, by share. The rows stand close together; of a percentile
 * between two of them the upper is taken. Null when there is none, or it is empty.
 */
export function wrk2Spectrum(text: string, isCorrected: boolean): Spectrum | null {
  const title = isCorrected ? 'Recorded Latency' : 'Uncorrected Latency'
  const [, section] = text.split(title)
  const mean = /Mean\s+=\s+([\d.]+), StdDeviation\s+=\s+([\d.]+)/.exec(section ?? '')
  const total = /Max\s+=\s+([\d.]+), Total count\s+=\s+(\d+)/.exec(section ?? '')
  if (section === undefined || mean === null || total === null || Number(total[2]) === 0) return null
  const body = section.slice(0, total.index)
  const rows = [...body.matchAll(ROW)].map(([, value, share]) => ({
    share: Number(share),
    micros: Number(value) * 1000,
  }))
  const maxMicros = Number(total[1]) * 1000
  return {
    isCorrected,
    count: Number(total[2]),
    meanMicros: Number(mean[1]) * 1000,
    stdevMicros: Number(mean[2]) * 1000,
    maxMicros,
    percentiles: WANTED.map((percentile) => ({
      percentile,
      micros: Math.round(rows.find(({ share }) => share >= percentile / 100 - 1e-9)?.micros ?? maxMicros),
    })),
    hdr: null,
  }
}
