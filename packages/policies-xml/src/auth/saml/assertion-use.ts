import type { CompileEnv } from '@sluice/core'
import { OneTimeUse, type UseVerdict } from '@sluice/policies/crypto/replay/one-time-use'
import { ReplayCache } from '@sluice/policies/crypto/replay/replay-cache'
import type { SharingConfig } from '@sluice/policies/crypto/replay/sharing-options'
import type { Assertion } from './assertion.js'
import type { IdentityProvider } from './idp.js'

/** Maximum age of one-time assertions in milliseconds. Each is remembered only this long. */
const MAX_AGE_MS = 3_600_000
const MAX_USED = 200_000

/** Accepts each assertion of a provider once. */
export class AssertionUse {
  readonly #once: OneTimeUse
  readonly #skewMs: number

  constructor(
    { entityId }: IdentityProvider,
    { sharing, skewMs }: { readonly sharing: SharingConfig; readonly skewMs: number },
    env: CompileEnv,
  ) {
    const space = `saml/${entityId}`
    const seen = env.shared(space, () => new ReplayCache(MAX_USED, 0))
    seen.widen(MAX_AGE_MS + 2 * skewMs)
    this.#once = new OneTimeUse(env, { space, seen, sharing })
    this.#skewMs = skewMs
  }

  use({ id, issuedMs }: Assertion): UseVerdict | 'tooOld' | Promise<UseVerdict> {
    const now = Date.now()
    return now - issuedMs > MAX_AGE_MS + this.#skewMs ? 'tooOld' : this.#once.use(id, now)
  }
}
