import { SignatureChecks } from '../signature-checks.js'

const going = { endedMono: 0 }

/** A scheduler with a busy event loop and free threads. */
export function checksOnThreads(): SignatureChecks {
  let nowMs = 0
  const checks = new SignatureChecks(() => nowMs)
  checks.spend(() => {
    nowMs += 1e9
  })
  return checks
}

/** A scheduler without capacity on the event loop and on threads. */
export function checksWithoutRoom(): SignatureChecks {
  const checks = checksOnThreads()
  const check = { now: () => true, later: () => new Promise<true>(() => {}) }
  while (checks.run(going, check) !== null);
  return checks
}
