import { createPublicKey } from 'node:crypto'
import type { OffloadedWork } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import type { Assertion, AssertionRules } from './assertion.js'
import type { AssertionIssue } from './refused-assertion.js'
import type { AssertionPlace } from './signed-assertion.js'

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

/** Result of a verification. Can be cloned. */
export type VerificationResult =
  | { readonly assertion: Assertion }
  | { readonly issue: AssertionIssue; readonly reason: string }

/** Verifies assertions on a thread while the event loop is busy. */
export const work: OffloadedWork<AssertionWork, AssertionInput, VerificationResult> = async ({
  keys,
  place,
  ...rules
}) => {
  await loadLibxml()
  const { attemptAssertion } = await import('./attempt.js')
  const all = { ...rules, keys: keys.map(({ pem, ...times }) => ({ ...times, key: createPublicKey(pem) })) }
  return ({ bytes, nowMs }) => attemptAssertion(bytes, place, all, nowMs)
}
