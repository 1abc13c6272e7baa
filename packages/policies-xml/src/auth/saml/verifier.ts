import type { CompileEnv, Exchange } from '@sluice/core'
import { signatureChecks } from '@sluice/policies/crypto/keys/signature-checks'
import { attemptAssertion, type VerificationResult } from './assertion.js'
import type { AssertionInput, AssertionWork } from './assertion-work.js'
import type { AssertionPlace, AssertionRules } from './signed-assertion.js'

/** Verifies an assertion. Rejects with Overload, and throws UnreadableBody if memory is short. */
export type VerifyAssertion = (
  bytes: Uint8Array,
  x: Exchange,
) => VerificationResult | Promise<VerificationResult>

/** Compiles a verifier that uses the event loop, or a thread while it is busy. */
export function assertionVerifier(
  rules: AssertionRules,
  place: AssertionPlace,
  env: CompileEnv,
): VerifyAssertion {
  const checks = signatureChecks(env)
  const keys = rules.keys.map(({ key, ...times }) => ({
    ...times,
    pem: String(key.export({ type: 'spki', format: 'pem' })),
  }))
  const work: AssertionWork = { ...rules, keys, place }
  const url = new URL('./assertion-work.js', import.meta.url)
  const thread = env.offload<AssertionInput, VerificationResult>(url, work)
  return (bytes, x) => {
    const nowMs = Date.now()
    if (checks.hasTime()) return checks.spend(() => attemptAssertion(bytes, place, rules, nowMs))
    return thread.run({ bytes, nowMs }, x)
  }
}
