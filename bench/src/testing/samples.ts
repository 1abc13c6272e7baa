import { spreadOf } from '../measure/point.js'
import { NO_ERRORS, type Point, type Spectrum, SUMMARY_VERSION, type Summary } from '../model/summary.js'
import type { Trial } from '../model/trial.js'

const STEPS = [50, 75, 90, 95, 99, 99.9, 99.99] as const

/** A latency that grows with the percentile as real ones do; `p50` in microseconds. */
export function sampleSpectrum(p50: number, changes: Partial<Spectrum> = {}): Spectrum {
  const percentiles = STEPS.map((percentile) => ({
    percentile,
    micros: Math.round(p50 * (1 + Math.log10(50 / (100 - percentile)) ** 2)),
  }))
  const count = 100_000
  return {
    isCorrected: true,
    count,
    meanMicros: p50,
    maxMicros: p50 * 20,
    percentiles,
    hdr: null,
    ...changes,
  }
}

/** A point that is a result; `changes` are laid over it. */
export function samplePoint(changes: Partial<Point> = {}): Point {
  return {
    ...{ suite: 'apinizer', scenario: 'w1-get', title: 'W1 GET', system: 'sluice', kind: 'saturation' },
    ...{ tier: 'W1', workers: 1, log: 'none', method: 'GET', bodyBytes: 0, connections: 100 },
    ...{ engine: 'wrk', targetPerSecond: null, ceilingPerSecond: 70_000 },
    perSecond: spreadOf([20_000, 20_200, 19_900]),
    cpuMicrosPerRequest: spreadOf([46, 45, 47]),
    ...{ generatorBusyShare: 0.4, busyShare: 0.98, sharesCores: false },
    ...{ requests: 1_200_000, errors: NO_ERRORS, latency: sampleSpectrum(4500), rssBytes: 96 * 1024 ** 2 },
    repetitions: [],
    diagnostics: [
      {
        ...{ worker: 0, heapUsedBytes: 24 * 1024 ** 2, rssBytes: 96 * 1024 ** 2, cpuMicros: 900_000 },
        ...{ loopLagP99Micros: 11_000, gcCount: 120, gcMicros: 240_000 },
      },
    ],
    ...{ upstreamWaits: 0, invalid: [], costInvalid: [] },
    ...changes,
  }
}

/** A run with these points. */
export function sampleSummary(points: readonly Point[], changes: Partial<Summary> = {}): Summary {
  return {
    ...{ schemaVersion: SUMMARY_VERSION, id: '2026-11-21-apinizer', suite: 'apinizer' },
    ...{ startedAt: '2026-11-21T10:00:00.000Z', endedAt: '2026-11-21T10:42:00.000Z' },
    command: 'gw bench run apinizer --with nginx',
    host: {
      ...{ cpuModel: 'Sample CPU 3.0 GHz', cpus: 8, memoryBytes: 32 * 1024 ** 3, kernel: '6.1.0' },
      ...{ cpuScore: 412, foreignShare: 0.01, stolenShare: 0, source: null, settings: { turbo: 'on' } },
      versions: { sluice: '0.1.0', nginx: '1.22.1', wrk: '4.1.0' },
    },
    ...{ documents: { 'w1-get': 'ab'.repeat(32) }, points: [...points], trials: [], warnings: [] },
    ...changes,
  }
}

/** A trial in which nothing was lost; `changes` are laid over it. */
export function sampleTrial(changes: Partial<Trial> = {}): Trial {
  const phase = { seconds: 20, sent: 12_000, answered: 12_000, failed: 0, p50Micros: 800, p99Micros: 2100 }
  return {
    ...{ id: 'worker-kill', title: 'worker killed', action: 'one of two workers is killed with SIGKILL' },
    ...{ workers: 2, connections: 128, targetPerSecond: 600, saturationPerSecond: 1000 },
    ...{
      requests: 42_000,
      sentAgain: 0,
      statuses: { '200': 42_000 },
      wrongBodies: 0,
      unasked: 0,
    },
    lost: { connect: 0, reset: 0, timeout: 0, unsent: 0 },
    ...{ gatewayErrors: 0, upstreamErrors: 0, deliveredSeconds: null, log: null },
    phases: [
      { name: 'before', ...phase },
      { name: 'during', ...phase, p99Micros: 9300 },
      { name: 'after', ...phase },
    ],
    ...{ newWorkers: 1, origin: { requests: 42_000, failed: 0, slow: 0, stray: 0 }, soak: null },
    ...{ failures: [], invalid: [] },
    ...changes,
  }
}
