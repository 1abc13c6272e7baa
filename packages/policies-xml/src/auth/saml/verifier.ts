import type { CompileEnv, Exchange, Offload } from '@sluice/core'
import { type SignatureChecks, signatureChecks } from '@sluice/policies/crypto/keys/signature-checks'
import { attemptAssertion, type VerificationResult } from './assertion.js'
import type { AssertionInput, AssertionWork } from './assertion-work.js'
import type { AssertionPlace, AssertionRules } from './signed-assertion.js'

/** Verifies assertions on the event loop, or on a thread while it is busy. */
export class AssertionVerifier {
  readonly #rules: AssertionRules
  readonly #place: AssertionPlace
  readonly #checks: SignatureChecks
  readonly #thread: Offload<AssertionInput, VerificationResult>

  constructor(rules: AssertionRules, place: AssertionPlace, env: CompileEnv) {
    this.#rules = rules
    this.#place = place
    this.#checks = signatureChecks(env)
    const keys = rules.keys.map(({ key, ...times }) => ({
      ...times,
      pem: String(key.export({ type: 'spki', format: 'pem' })),
    }))
    const work: AssertionWork = { ...rules, keys, place }
    this.#thread = env.offload(new URL('./assertion-work.js', import.meta.url), work)
  }

  /** Verifies an assertion. Rejects with Overload, and throws UnreadableBody if memory is short. */
  read(bytes: Uint8Array, x: Exchange): VerificationResult | Promise<VerificationResult> {
    const nowMs = Date.now()
    if (this.#checks.hasTime())
      return this.#checks.spend(() => attemptAssertion(bytes, this.#place, this.#rules, nowMs))
    return this.#thread.run({ bytes, nowMs }, x)
  }
}
