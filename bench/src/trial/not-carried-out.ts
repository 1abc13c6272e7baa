import type { Trial, TrialPlan } from '../model/trial.js'

/** The trial of a plan that could not be carried out: nothing was seen, and it has failed. */
export function notCarriedOut(plan: TrialPlan, startedAt: string, reason: string): Trial {
  const { id, title, action, workers, connections } = plan
  return {
    ...{ id, title, action, startedAt, workers, connections },
    ...{ targetPerSecond: 0, saturationPerSecond: 0, actedFromSeconds: 0, actedToSeconds: 0 },
    ...{ requests: 0, sentAgain: 0, answers: {}, gatewayErrors: 0, upstreamErrors: 0 },
    errors: { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 },
    ...{ phases: [], recoveredSeconds: null, deliveredSeconds: null, log: null, newWorkers: 0 },
    origin: { requests: 0, failed: 0, slow: 0, stray: 0 },
    failures: [`it could not be carried out: ${reason}`],
  }
}
