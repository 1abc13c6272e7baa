import { SignatureChecks } from '../signature-checks.js'

const going = { endedMono: 0 }

/** Checks on an event loop that has no time, with threads that are free. */
export function checksOnThreads(): SignatureChecks {
  let nowMs = 0
  const checks = new SignatureChecks(() => nowMs)
  checks.spend(() => {
    nowMs += 1e9
  })
  return checks
}

/** Checks that have no room for another one, here or on a thread. */
export function checksWithoutRoom(): SignatureChecks {
  const checks = checksOnThreads()
  const check = { now: () => true, later: () => new Promise<true>(() => {}) }
  while (checks.run(going, check) !== null);
  return checks
}
