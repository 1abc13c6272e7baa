import type { Point, Spread, Summary } from '@sluice/bench'

const NO_ERRORS = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }

/** The same value in all of three repetitions. */
export function spread(mean: number, stdev = 0): Spread {
  return { mean, stdev, min: mean - stdev, max: mean + stdev, values: [mean - stdev, mean, mean + stdev] }
}

/** A point of the smoke suite at saturation. */
export function samplePoint(more: Partial<Point> = {}): Point {
  return {
    suite: 'smoke',
    scenario: 'get',
    title: 'GET',
    contestant: 'sluice',
    kind: 'saturation',
    tier: null,
    workers: 1,
    log: 'none',
    method: 'GET',
    bodyBytes: 0,
    connections: 16,
    targetPerSecond: null,
    perSecond: spread(20_000),
    cpuMicrosPerRequest: spread(20),
    requests: 40_000,
    errors: NO_ERRORS,
    latency: null,
    rssBytes: 100_000_000,
    busyShare: 0.99,
    diagnostics: [],
    invalid: [],
    ...more,
  }
}

/** A run with these points. */
export function sampleSummary(points: readonly Point[], more: Partial<Summary> = {}): Summary {
  return {
    schemaVersion: 1,
    id: 'smoke-1',
    suite: 'smoke',
    startedAt: '2026-01-01T00:00:00.000Z',
    endedAt: '2026-01-01T00:01:00.000Z',
    command: 'gw bench run smoke',
    engine: 'autocannon',
    host: {
      cpuModel: 'Sample CPU',
      cpus: 2,
      memoryBytes: 4 * 1024 ** 3,
      kernel: 'Linux 6.1.0',
      node: '20.19.0',
      cpuScore: 1000,
      foreignShare: 0,
      stolenShare: 0,
      versions: { sluice: '0.1.0' },
    },
    points,
    warnings: [],
    ...more,
  }
}
