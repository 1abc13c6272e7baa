import type { Point, Spread, Summary, Trial } from '@sluice/bench'

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

/** A trial in which nothing was lost. */
export function sampleTrial(more: Partial<Trial> = {}): Trial {
  return {
    id: 'worker-kill',
    title: 'worker killed',
    action: 'one of two workers is killed with SIGKILL',
    startedAt: '2026-01-01T00:00:00.000Z',
    ...{ workers: 2, connections: 128, targetPerSecond: 600, saturationPerSecond: 1000 },
    ...{ actedFromSeconds: 20, actedToSeconds: 40, requests: 36_000, sentAgain: 0 },
    errors: NO_ERRORS,
    answers: { '2xx': 36_000 },
    ...{ gatewayErrors: 0, upstreamErrors: 0, phases: [], recoveredSeconds: 0, deliveredSeconds: null },
    ...{ log: null, newWorkers: 1, origin: { requests: 36_000, failed: 0, slow: 0, stray: 0 } },
    failures: [],
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
