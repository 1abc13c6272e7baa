import { type OffloadedWork, UnreadableBody } from '@sluice/core'
import { type CheckSettings, SchemaCheck, type Verdict } from './check.js'

/**
 * Result for a body, or the reason why it cannot be read. Only the message of an error can be sent from a
 * thread.
 */
export type OffloadedVerdict = Verdict | { readonly unreadable: string }

/** Checks large bodies on a thread. */
export const work: OffloadedWork<CheckSettings, Uint8Array, OffloadedVerdict> = async (settings) => {
  const check = await SchemaCheck.compile(settings)
  return (body) => verdictOf(() => check.checkBytes(body))
}

/** Runs a check and converts an unreadable body into a result. */
export function verdictOf(check: () => Verdict): OffloadedVerdict {
  try {
    return check()
  } catch (error) {
    if (error instanceof UnreadableBody) return { unreadable: error.message }
    throw error
  }
}
