import { type CompileEnv, parseDuration } from '@sluice/core'
import { digestOf } from '../../shared/call-sharing.js'
import { compileKeyFetch, type KeyAcceptance } from './key-endpoint.js'
import { DEFAULT_KEY_REFRESH, DEFAULT_KEY_STALE, type RemoteJwksConfig } from './key-schema.js'
import type { KeySet } from './key-set.js'
import { RemoteKeySet } from './remote-key-set.js'

/** How often a worker looks whether keys have grown old. */
const LOOK_EVERY_MS = 5000

/** The keys of an issuer, fetched when they are needed and kept fresh. @throws Error for an address that is none. */
export function openRemoteKeys(jwks: RemoteJwksConfig, accepted: KeyAcceptance, env: CompileEnv): KeySet {
  const fetch = compileKeyFetch(jwks, accepted, env)
  const endpoint = jwks.url ?? jwks.discovery
  // What was fetched outlives reloads that change nothing of it.
  const digest = digestOf(jwks, accepted.allowed, accepted.allowWeak)
  const keys = env.shared(
    `jwt-keys:${digest}`,
    () =>
      new RemoteKeySet({
        refreshMs: parseDuration(jwks.refresh ?? DEFAULT_KEY_REFRESH),
        maxStaleMs: parseDuration(jwks.maxStale ?? DEFAULT_KEY_STALE),
        onFailure: (reason) => env.report('jwt_keys_failed', { endpoint, reason }),
      }),
  )
  env.onClose(keys.use(fetch))
  env.schedule(LOOK_EVERY_MS, () => keys.keepFresh())
  return keys
}
