import { spreadOf } from '../measure/spread.js'
import type { Spectrum } from '../model/engine.js'
import { type Point, SUMMARY_VERSION, type Summary } from '../model/summary.js'

const STEPS = [50, 75, 90, 95, 99, 99.9, 99.99] as const

/** A latency that grows with the percentile as real ones do; `p50` in microseconds. */
export function sampleSpectrum(p50: number, changes: Partial<Spectrum> = {}): Spectrum {
  const percentiles = STEPS.map((percentile) => ({
    percentile,
    micros: Math.round(p50 * (1 + Math.log10(50 / (100 - percentile)) ** 2)),
  }))
  return {
    isCorrected: true,
    count: 100_000,
    meanMicros: p50 * 1.1,
    stdevMicros: p50 * 0.4,
    maxMicros: p50 * 20,
    percentiles,
    hdr: null,
    ...changes,
  }
}

/** A point that is a result; `changes` are laid over it. */
export function samplePoint(changes: Partial<Point> = {}): Point {
  return {
    suite: 'apinizer',
    scenario: 'w1-get',
    title: 'W1 GET',
    contestant: 'sluice',
    kind: 'saturation',
    tier: 'W1',
    workers: 1,
    log: 'none',
    method: 'GET',
    bodyBytes: 0,
    connections: 100,
    targetPerSecond: null,
    perSecond: spreadOf([20_000, 20_200, 19_900]),
    cpuMicrosPerRequest: spreadOf([46, 45, 47]),
    requests: 1_200_000,
    errors: { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 },
    latency: sampleSpectrum(4500),
    rssBytes: 96 * 1024 ** 2,
    busyShare: 0.98,
    diagnostics: [
      {
        worker: 0,
        heapUsedBytes: 24 * 1024 ** 2,
        rssBytes: 96 * 1024 ** 2,
        loopLagP99Micros: 11_000,
        gcCount: 120,
        gcMicros: 240_000,
        openSockets: 164,
      },
    ],
    invalid: [],
    ...changes,
  }
}

/** A run with these points. */
export function sampleSummary(points: readonly Point[], changes: Partial<Summary> = {}): Summary {
  return {
    schemaVersion: SUMMARY_VERSION,
    id: '2026-11-21-apinizer',
    suite: 'apinizer',
    startedAt: '2026-11-21T10:00:00.000Z',
    endedAt: '2026-11-21T10:42:00.000Z',
    command: 'gw bench run apinizer --with nginx',
    engine: 'wrk',
    host: {
      cpuModel: 'Sample CPU 3.0 GHz',
      cpus: 8,
      memoryBytes: 32 * 1024 ** 3,
      kernel: '6.1.0',
      node: '20.19.5',
      cpuScore: 412,
      foreignShare: 0.01,
      stolenShare: 0,
      versions: {
        sluice: '0.1.0',
        'uWebSockets.js': '20.56.0',
        undici: '7.16.0',
        nginx: '1.22.1',
        wrk: '4.1.0',
      },
    },
    points,
    warnings: [],
    ...changes,
  }
}
