import { createPublicKey } from 'node:crypto'
import type { OffloadedWork } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import type { Assertion, AssertionRules } from './assertion.js'
import type { SamlFlaw } from './refused-assertion.js'
import type { AssertionPlace } from './signed-assertion.js'

/** An assertion for a thread. */
export interface AssertionInput {
  readonly bytes: Uint8Array
  readonly nowMs: number
}

/** What a thread is told of the rules: keys as PEM. */
export interface AssertionWork extends Omit<AssertionRules, 'keys'> {
  readonly keys: readonly { readonly pem: string; readonly validFromMs: number; readonly validToMs: number }[]
  readonly place: AssertionPlace
}

/** What became of an assertion; can be cloned. */
export type Read = { readonly assertion: Assertion } | { readonly flaw: SamlFlaw; readonly reason: string }

/** Assertions are verified on a thread where the event loop has no time for them. */
export const work: OffloadedWork<AssertionWork, AssertionInput, Read> = async ({ keys, place, ...rules }) => {
  await loadLibxml()
  const { attemptAssertion } = await import('./attempt.js')
  const all = { ...rules, keys: keys.map(({ pem, ...times }) => ({ ...times, key: createPublicKey(pem) })) }
  return ({ bytes, nowMs }) => attemptAssertion(bytes, place, all, nowMs)
}
