import { type CompileEnv, parseDuration } from '@sluice/core'
import { digestOf } from '../../shared/call/call-sharing.js'
import { MARGIN_MS } from '../../shared/call/single-flight.js'
import { fetchForGateway } from './gateway-key-fetch.js'
import { compileKeyEndpoint, type KeyAcceptance } from './key-endpoint.js'
import {
  DEFAULT_KEY_REFRESH,
  DEFAULT_KEY_STALE,
  DEFAULT_KEY_TIMEOUT,
  type RemoteJwksConfig,
} from './key-schema.js'
import type { KeySet } from './key-set.js'
import { RemoteKeySet } from './remote-key-set.js'

/** Interval in milliseconds at which a worker checks the age of its keys. */
const LOOK_EVERY_MS = 5000

/** Opens the keys of an issuer, fetched on demand and kept fresh. @throws Error for an invalid address. */
export function openRemoteKeys(jwks: RemoteJwksConfig, accepted: KeyAcceptance, env: CompileEnv): KeySet {
  const endpoint = compileKeyEndpoint(jwks, accepted, env)
  const address = jwks.url ?? jwks.discovery
  const refreshMs = parseDuration(jwks.refresh ?? DEFAULT_KEY_REFRESH)
  const maxStaleMs = parseDuration(jwks.maxStale ?? DEFAULT_KEY_STALE)
  // Fetched keys survive reloads that do not change their options.
  const digest = digestOf(jwks, accepted.allowed, accepted.allowWeak)
  const name = `jwt-keys:${digest}`
  const onFailure = (reason: string): void => env.report('jwt_keys_failed', { endpoint: address, reason })
  const keys = env.shared(name, () => new RemoteKeySet({ refreshMs, maxStaleMs, onFailure }))
  const calls = jwks.url === undefined ? 2 : 1
  const fetch = fetchForGateway(endpoint, {
    ...{ store: env.state.store('gateway'), name, freshMs: Math.min(refreshMs, maxStaleMs) },
    waitMs: calls * parseDuration(jwks.timeout ?? DEFAULT_KEY_TIMEOUT) + MARGIN_MS,
  })
  env.onClose(keys.use(fetch))
  env.schedule(LOOK_EVERY_MS, () => keys.keepFresh())
  return keys
}
