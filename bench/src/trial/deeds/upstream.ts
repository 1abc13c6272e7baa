import type { Deed } from '../deed.js'
import { NOTHING_LOST } from '../judgement.js'

/** One of 20: 5 %. */
const FAIL_EVERY = 20
const SLOW_EVERY = 100
/** Of a busy machine every other answer is within it. */
const TIMEOUT_MS = 1000
/** Of the time-out: far beyond it, so that none of the slow ones is answered. */
const SLOW_TIMES = 10
/** Of the upstream's retries, as a share of its requests. */
const RETRY_BUDGET = 0.2

/** One of 20 answers is a 500: just these arrive. */
export function upstreamErrors(): Deed {
  return {
    begin: ({ origin }) => origin.steer({ failEvery: FAIL_EVERY }),
    end: ({ origin }) => origin.steer({}),
    expects: ({ origin }) => ({ ...NOTHING_LOST, statuses: [200, 500], upstreamErrors: origin.failed }),
  }
}

/** One of 100 answers comes later than the upstream's time-out: just these are errors of the gateway. */
export function upstreamSlow(timeoutMs = TIMEOUT_MS): Deed {
  return {
    wish: {
      upstream: {
        timeouts: { headers: `${timeoutMs}ms` },
        retry: { attempts: 1, budget: `${RETRY_BUDGET * 100}%` },
      },
    },
    begin: ({ origin }) => origin.steer({ slowEvery: SLOW_EVERY, slowMs: timeoutMs * SLOW_TIMES }),
    end: ({ origin }) => origin.steer({}),
    expects: ({ origin, requests }) => ({
      ...NOTHING_LOST,
      statuses: [200, 504],
      gatewayErrors: origin.slow,
      moreRequests: Math.round(requests * RETRY_BUDGET),
    }),
  }
}
