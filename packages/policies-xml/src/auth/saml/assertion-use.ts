import type { CompileEnv } from '@sluice/core'
import { OneTimeUse, type UseVerdict } from '@sluice/policies/crypto/replay/one-time-use'
import { ReplayCache } from '@sluice/policies/crypto/replay/replay-cache'
import type { SharingConfig } from '@sluice/policies/crypto/replay/sharing-options'
import type { Assertion } from './assertion.js'
import type { IdentityProvider } from './idp.js'

/** Maximum age of one-time assertions in milliseconds. Each is remembered only this long. */
const MAX_AGE_MS = 3_600_000
const MAX_USED = 200_000

/** Uses an assertion. Returns `tooOld` for one that is no longer remembered. */
export type UseAssertion = (assertion: Assertion) => UseVerdict | 'tooOld' | Promise<UseVerdict>

/** Compiles the check that each assertion of a provider is used once. */
export function assertionUse(
  { entityId }: IdentityProvider,
  { sharing, skewMs }: { readonly sharing: SharingConfig; readonly skewMs: number },
  env: CompileEnv,
): UseAssertion {
  const space = `saml/${entityId}`
  const seen = env.shared(space, () => new ReplayCache(MAX_USED, 0))
  seen.widen(MAX_AGE_MS + 2 * skewMs)
  const once = new OneTimeUse(env, { space, seen, sharing })
  return ({ id, issuedMs }) => {
    const now = Date.now()
    return now - issuedMs > MAX_AGE_MS + skewMs ? 'tooOld' : once.use(id, now)
  }
}
