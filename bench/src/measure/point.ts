import type { ErrorClass, LoadResult, Spectrum } from '../model/engine.js'
import type { Scenario } from '../model/scenario.js'
import type { Point, RepetitionFigures, Spread, WorkerDiagnostics, WorkerLog } from '../model/summary.js'
import { TARGET } from '../report/rivals.js'
import { mean } from '../statistics.js'
import type { CoreLayout } from './cores.js'
import type { Repetition } from './repetition.js'
import { spreadOf, UNKNOWN } from './spread.js'
import { throttleReasons } from './throttle-reasons.js'
import { generatorBusyShare, verdictOf } from './validity.js'

/** Makes one distribution of those of all repetitions. */
export type SpectrumMerge = (spectra: readonly Spectrum[]) => Spectrum

/** What a point is about. */
export interface PointSubject {
  readonly suite: string
  readonly scenario: Scenario
  readonly contestant: string
  readonly connections: number
  /** The load generator. */
  readonly engine: string
  readonly ceilingPerSecond: number | null
  /** Null for saturation. */
  readonly targetPerSecond: number | null
  /** Of a highest rate; null: the point is none. */
  readonly sloMicros: number | null
  /** What is wrong with the saturation that its rate is a share of; null: nothing. */
  readonly baseFlaw: string | null
  readonly layout: CoreLayout
}

/** The point that its repetitions make. */
export function pointOf(
  subject: PointSubject,
  repetitions: readonly Repetition[],
  merge: SpectrumMerge,
): Point {
  const { scenario, targetPerSecond, sloMicros, layout } = subject
  const results = repetitions.flatMap(({ result }) => (result === null ? [] : [result]))
  const spectra = results.flatMap(({ latency }) => (latency === null ? [] : [latency]))
  const point: Omit<Point, 'invalid'> & Pick<PointSubject, 'ceilingPerSecond'> = {
    suite: subject.suite,
    scenario: scenario.id,
    title: scenario.title,
    contestant: subject.contestant,
    kind: targetPerSecond === null ? 'saturation' : 'fixed-rate',
    tier: scenario.tier,
    workers: scenario.workers,
    log: scenario.log,
    method: scenario.call.method,
    bodyBytes: scenario.call.body?.bytes ?? 0,
    connections: subject.connections,
    engine: subject.engine,
    targetPerSecond,
    ...(sloMicros === null ? {} : { sloMicros }),
    ceilingPerSecond: subject.ceilingPerSecond,
    perSecond: spreadOf(results.map(({ requests, seconds }) => requests / seconds)),
    ...traffic(results),
    ...(subject.contestant === TARGET ? {} : { originDelayMs: scenario.origin.delayMs }),
    generatorBusyShare: generatorBusyShare(repetitions),
    cpuMicrosPerRequest: costOf(repetitions),
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    errors: errorSum(results.map(({ errors }) => errors)),
    latency: spectra.length === 0 ? null : merge(spectra),
    rssBytes: Math.max(0, ...repetitions.map(({ rssBytes }) => rssBytes)),
    busyShare: spreadOf(repetitions.map(({ busyShare }) => busyShare)).mean,
    sharesCores: layout.isShared,
    diagnostics: diagnosticsOf(repetitions),
    ...waitsOf(repetitions),
    ...memoryOf(repetitions),
    perRepetition: repetitions.map(figuresOf),
  }
  const verdict = verdictOf({ ...point, baseFlaw: subject.baseFlaw }, repetitions, layout)
  // Who is held back by a quota waits: its throughput and latencies are the quota's, its CPU time is its own.
  return { ...point, ...verdict, invalid: [...verdict.invalid, ...throttleReasons(repetitions)] }
}

/** Bytes a second, where the load generator tells them. */
function traffic(results: readonly LoadResult[]): Pick<Point, 'receivedPerSecond' | 'sentPerSecond'> {
  const rates = (bytesOf: (result: LoadResult) => number | undefined): number[] =>
    results.flatMap((result) => {
      const bytes = bytesOf(result)
      return bytes === undefined ? [] : [bytes / result.seconds]
    })
  const received = rates(({ receivedBytes }) => receivedBytes)
  const sent = rates(({ sentBytes }) => sentBytes)
  return {
    ...(received.length === 0 ? {} : { receivedPerSecond: mean(received) }),
    ...(sent.length === 0 ? {} : { sentPerSecond: mean(sent) }),
  }
}

function figuresOf({ result, rssBytes, throttling = null }: Repetition): RepetitionFigures {
  const { latency } = result ?? { latency: null }
  const at = (wanted: number): number | null =>
    latency?.percentiles.find(({ percentile }) => percentile === wanted)?.micros ?? null
  const figures = { p50Micros: at(50), p99Micros: at(99), rssBytes }
  return throttling === null ? figures : { ...figures, throttling }
}

/** Requests that took no CPU time at all were answered by somebody else: what they cost is not known. */
function costOf(repetitions: readonly Repetition[]): Spread {
  const costs = repetitions.flatMap(({ result, cpuMicros }) =>
    result === null || result.requests === 0 || !(cpuMicros > 0)
      ? []
      : [cpuMicros / (result.requests + (result.leadIn?.requests ?? 0))],
  )
  return costs.length === 0 ? UNKNOWN : spreadOf(costs)
}

function errorSum(all: readonly Readonly<Record<ErrorClass, number>>[]): Record<ErrorClass, number> {
  const sum = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
  for (const errors of all) for (const name of Object.keys(sum) as ErrorClass[]) sum[name] += errors[name]
  return sum
}

/** Of all repetitions together, where somebody counts them. */
function waitsOf(repetitions: readonly Repetition[]): Pick<Point, 'upstreamWaits'> {
  const known = repetitions.flatMap(({ upstreamWaits = null }) =>
    upstreamWaits === null ? [] : [upstreamWaits],
  )
  return known.length === 0 ? {} : { upstreamWaits: known.reduce((sum, waits) => sum + waits, 0) }
}

/** The limit is the same for all of them, and the peak one that grew. */
function memoryOf(repetitions: readonly Repetition[]): Pick<Point, 'memory'> {
  const last = repetitions.at(-1)?.memory ?? null
  return last === null ? {} : { memory: last }
}

/** Over all repetitions: what was counted is added up, of the rest the largest stands. */
function diagnosticsOf(repetitions: readonly Repetition[]): WorkerDiagnostics[] {
  const workers = new Map<number, WorkerDiagnostics>()
  for (const one of repetitions.flatMap(({ diagnostics }) => diagnostics)) {
    const known = workers.get(one.worker)
    workers.set(one.worker, known === undefined ? one : joined(known, one))
  }
  return [...workers.values()].toSorted((a, b) => a.worker - b.worker)
}

function joined(one: WorkerDiagnostics, other: WorkerDiagnostics): WorkerDiagnostics {
  return {
    worker: one.worker,
    heapUsedBytes: Math.max(one.heapUsedBytes, other.heapUsedBytes),
    rssBytes: Math.max(one.rssBytes, other.rssBytes),
    loopLagP99Micros: Math.max(one.loopLagP99Micros, other.loopLagP99Micros),
    gcCount: one.gcCount + other.gcCount,
    gcMicros: one.gcMicros + other.gcMicros,
    openSockets: Math.max(one.openSockets, other.openSockets),
    cpuMicros: (one.cpuMicros ?? 0) + (other.cpuMicros ?? 0),
    voluntarySwitches: (one.voluntarySwitches ?? 0) + (other.voluntarySwitches ?? 0),
    involuntarySwitches: (one.involuntarySwitches ?? 0) + (other.involuntarySwitches ?? 0),
    ...joinedLogs(one.log, other.log),
  }
}

function joinedLogs(
  one: WorkerLog | undefined,
  other: WorkerLog | undefined,
): Pick<WorkerDiagnostics, 'log'> {
  if (one === undefined || other === undefined) return {}
  const log = {
    queuedRecords: Math.max(one.queuedRecords, other.queuedRecords),
    lagMicros: Math.max(one.lagMicros, other.lagMicros),
    droppedRecords: one.droppedRecords + other.droppedRecords,
  }
  return { log }
}
