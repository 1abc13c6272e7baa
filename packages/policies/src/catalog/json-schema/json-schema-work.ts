import { type OffloadedWork, UnreadableBody } from '@sluice/core'
import { type CheckSettings, SchemaCheck, type Verdict } from './check.js'

/** The verdict about a body, or why it cannot be read: of an error only its message comes back from a thread. */
export type OffloadedVerdict = Verdict | { readonly unreadable: string }

/** Checks large bodies. */
export const work: OffloadedWork<CheckSettings, Uint8Array, OffloadedVerdict> = async (settings) => {
  const check = await SchemaCheck.compile(settings)
  return (body) => verdictOf(() => check.checkBytes(body))
}

/** What a check says, where a body that cannot be read is a verdict too. */
export function verdictOf(check: () => Verdict): OffloadedVerdict {
  try {
    return check()
  } catch (error) {
    if (error instanceof UnreadableBody) return { unreadable: error.message }
    throw error
  }
}
