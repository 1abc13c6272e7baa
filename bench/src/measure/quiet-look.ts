import { allowedCpus } from './cores.js'
import { type CoreTimes, coreTimes } from './process-use.js'

/** A machine on which others use more than this is not quiet. */
export const QUIET_SHARE = 0.05
const LOOK_MS = 1000

/** What others did and what the machine below took while this process waited, 0 to 1. */
export interface QuietLook {
  readonly foreignShare: number
  readonly stolenShare: number
}

/** Looks for a second. */
export async function quietLook(): Promise<QuietLook> {
  const cpus = allowedCpus()
  const before = coreTimes(cpus)
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  return sharesBetween(before, coreTimes(cpus), cpus.length)
}

/** Looks for a second in which this process does nothing else, not even wait for events. */
export function quietLookSync(): QuietLook {
  const cpus = allowedCpus()
  const before = coreTimes(cpus)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
  return sharesBetween(before, coreTimes(cpus), cpus.length)
}

function sharesBetween(before: CoreTimes, after: CoreTimes, cores: number): QuietLook {
  const elapsedMicros = Math.max(1, (after.atMono - before.atMono) * 1000 * cores)
  const share = (micros: number): number => Math.min(1, Math.max(0, micros / elapsedMicros))
  return {
    foreignShare: share(after.busyMicros - before.busyMicros),
    stolenShare: share(after.stolenMicros - before.stolenMicros),
  }
}
