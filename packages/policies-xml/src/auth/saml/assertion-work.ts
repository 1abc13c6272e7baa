import { createPublicKey } from 'node:crypto'
import type { OffloadedWork } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import type { VerificationResult } from './assertion.js'
import type { AssertionPlace, AssertionRules } from './signed-assertion.js'

/** An assertion to verify on a thread. */
export interface AssertionInput {
  readonly bytes: Uint8Array
  readonly nowMs: number
}

/** Verification rules for a thread, with keys as PEM. */
export interface AssertionWork extends Omit<AssertionRules, 'keys'> {
  readonly keys: readonly { readonly pem: string; readonly validFromMs: number; readonly validToMs: number }[]
  readonly place: AssertionPlace
}

/** Verifies assertions on a thread while the event loop is busy. */
export const work: OffloadedWork<AssertionWork, AssertionInput, VerificationResult> = async ({
  keys,
  place,
  ...rules
}) => {
  await loadLibxml()
  const { attemptAssertion } = await import('./assertion.js')
  const all = { ...rules, keys: keys.map(({ pem, ...times }) => ({ ...times, key: createPublicKey(pem) })) }
  return ({ bytes, nowMs }) => attemptAssertion(bytes, place, all, nowMs)
}
