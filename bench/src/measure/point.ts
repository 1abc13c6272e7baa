import { mean } from '../lib/statistics.js'
import type { ErrorClass } from '../model/engine.js'
import type { Scenario } from '../model/scenario.js'
import { mergeSpectra, percentileOf } from '../model/spectrum.js'
import { NO_ERRORS, type Point, type Spread, type WorkerDiagnostics } from '../model/summary.js'
import type { CoreLayout } from '../process/cores.js'
import type { Repetition } from './repetition.js'
import { validityOf } from './validity.js'

/** The subject of a point. */
export interface PointSubject
  extends Pick<Point, 'suite' | 'system' | 'connections' | 'engine' | 'ceilingPerSecond'>,
    Pick<Point, 'targetPerSecond'> {
  readonly scenario: Scenario
  readonly layout: CoreLayout
  /** Enforced memory limit in bytes, or null. */
  readonly memoryLimitBytes: number | null
}

/** Returns the point of a list of repetitions. */
export function pointOf(subject: PointSubject, repetitions: readonly Repetition[]): Point {
  const { scenario, layout, ...rest } = subject
  const results = repetitions.flatMap(({ result }) => (result === null ? [] : [result]))
  const spectra = results.flatMap(({ latency }) => (latency === null ? [] : [latency]))
  const busyShares = known(repetitions.map(({ busyShare }) => busyShare))
  const kernelShares = known(repetitions.map(({ kernelShare }) => kernelShare))
  const point = {
    ...rest,
    scenario: scenario.id,
    title: scenario.title,
    kind: subject.targetPerSecond === null ? ('saturation' as const) : ('fixed-rate' as const),
    tier: scenario.tier,
    workers: scenario.workers,
    log: scenario.log,
    method: scenario.call.method,
    bodyBytes: scenario.call.body?.bytes ?? 0,
    perSecond: spreadOf(results.map(({ requests, seconds }) => requests / seconds)),
    generatorBusyShare: largest(results.map(({ busyShare }) => busyShare)),
    cpuMicrosPerRequest: costOf(repetitions),
    kernelShare: kernelShares.length === 0 ? null : mean(kernelShares),
    busyShare: busyShares.length === 0 ? null : mean(busyShares),
    sharesCores: layout.isShared,
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    errors: errorSum(results.map(({ errors }) => errors)),
    latency: spectra.length === 0 ? null : mergeSpectra(spectra),
    rssBytes: largest(known(repetitions.map(({ rssBytes }) => rssBytes))),
    repetitions: repetitions.map(({ result, rssBytes }) => ({
      p50Micros: percentileOf(result?.latency ?? null, 50),
      p99Micros: percentileOf(result?.latency ?? null, 99),
      rssBytes,
    })),
    diagnostics: diagnosticsOf(repetitions),
    loadAverage: Math.max(...repetitions.map(({ loadAverage }) => loadAverage)),
    upstreamWaits: total(known(repetitions.map(({ upstreamWaits }) => upstreamWaits))),
  }
  return { ...point, ...validityOf(point, repetitions, layout) }
}

/** Returns mean and deviation over the repetitions. All 0 without values. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { mean: 0, stdev: 0, min: 0, max: 0, values: [] }
  const middle = mean(values)
  // Sample variance, because the repetitions are a sample.
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0)
  const stdev = values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1))
  return { mean: middle, stdev, min: Math.min(...values), max: Math.max(...values), values: [...values] }
}

/** A system without CPU time did not answer the requests itself, so its cost is unknown. */
function costOf(repetitions: readonly Repetition[]): Spread | null {
  const costs = repetitions.flatMap(({ result, cpuMicros }) =>
    result === null || result.requests === 0 || cpuMicros === null || cpuMicros === 0
      ? []
      : [cpuMicros / (result.requests + (result.leadIn?.requests ?? 0))],
  )
  return costs.length === 0 ? null : spreadOf(costs)
}

function errorSum(all: readonly Readonly<Record<ErrorClass, number>>[]): Record<ErrorClass, number> {
  const sum = { ...NO_ERRORS }
  for (const errors of all) for (const name of Object.keys(sum) as ErrorClass[]) sum[name] += errors[name]
  return sum
}

/** Combines all repetitions: sums of counts, maxima of other values. */
function diagnosticsOf(repetitions: readonly Repetition[]): WorkerDiagnostics[] {
  const workers = new Map<number, WorkerDiagnostics>()
  for (const one of repetitions.flatMap(({ diagnostics }) => diagnostics)) {
    const other = workers.get(one.worker)
    if (other === undefined) workers.set(one.worker, one)
    else
      workers.set(one.worker, {
        worker: one.worker,
        heapUsedBytes: Math.max(one.heapUsedBytes, other.heapUsedBytes),
        rssBytes: Math.max(one.rssBytes, other.rssBytes),
        loopLagP99Micros: Math.max(one.loopLagP99Micros, other.loopLagP99Micros),
        cpuMicros: one.cpuMicros + other.cpuMicros,
        gcCount: one.gcCount + other.gcCount,
        gcMicros: one.gcMicros + other.gcMicros,
      })
  }
  return [...workers.values()].toSorted((a, b) => a.worker - b.worker)
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null)
}

function largest(values: readonly number[]): number | null {
  return values.length === 0 || values.some(Number.isNaN) ? null : Math.max(...values)
}

function total(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0)
}
