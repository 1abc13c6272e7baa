import type { Trial } from '../model/trial.js'

/** A trial in which nothing was lost; `changes` are laid over it. */
export function sampleTrial(changes: Partial<Trial> = {}): Trial {
  return {
    id: 'worker-kill',
    title: 'worker killed',
    action: 'one of two workers is killed with SIGKILL',
    startedAt: '2026-11-21T10:00:00.000Z',
    ...{ workers: 2, connections: 128, targetPerSecond: 600, saturationPerSecond: 1000 },
    ...{ actedFromSeconds: 30, actedToSeconds: 50.04, requests: 42_000, sentAgain: 0, crossed: 0 },
    errors: { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 },
    answers: { '2xx': 42_000 },
    ...{ statuses: { '200': 42_000 }, wrongBodies: 0, unasked: 0 },
    ...{ gatewayErrors: 0, upstreamErrors: 0 },
    phases: [
      { name: 'before', seconds: 20, requests: 12_000, failed: 0, p50Micros: 800, p99Micros: 2100 },
      { name: 'during', seconds: 20, requests: 12_000, failed: 0, p50Micros: 900, p99Micros: 9300 },
      { name: 'after', seconds: 20, requests: 12_000, failed: 0, p50Micros: 800, p99Micros: 2000 },
    ],
    ...{ recoveredSeconds: 0, deliveredSeconds: null, log: null, newWorkers: 1 },
    origin: { requests: 42_000, failed: 0, slow: 0, stray: 0 },
    failures: [],
    ...changes,
  }
}
