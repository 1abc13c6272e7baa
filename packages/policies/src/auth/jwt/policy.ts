import { type CompileEnv, definePolicy } from '@sluice/core'
import type { KeySet } from '../../crypto/jose/key-set.js'
import { compileKeySet } from '../../crypto/jose/local-key-set.js'
import { openRemoteKeys } from '../../identity/issuer/remote-keys.js'
import { tenantWarnings } from '../../identity/issuer/tenants.js'
import { tokenLocation } from '../../identity/token/token-options.js'
import { type JwtConfig, jwtSchema } from './schema.js'
import { TokenGate } from './token-gate.js'

const ANY_AUDIENCE = {
  message: 'jwt does not check the audience of tokens: tokens for other services of the issuer are accepted',
  remedy: 'add audiences: [NAME], with the names that the issuer uses for this service',
}

/** Authenticates the consumer by a signed JWT. */
export const jwt = definePolicy({
  name: 'jwt',
  summary:
    'Authenticates callers by a signed JWT (RFC 7519): verifies its signature, times and claims, and sets the consumer.',
  schema: jwtSchema,
  cost: 'cpu',
  secretNames: (config) => [tokenLocation(config).name],
  authenticates: () => 'request',
  warnings: ({ audiences, requiredClaims = {}, jwks, consumerClaim }) => [
    ...(audiences === undefined && !Object.hasOwn(requiredClaims, 'aud') ? [ANY_AUDIENCE] : []),
    ...tenantWarnings(jwks?.discovery, jwks?.tenants, consumerClaim),
  ],
  compile(config, env) {
    const gate = new TokenGate(config, compileKeys(config, env), env)
    return { name: 'jwt', onRequest: (x) => gate.admit(x) }
  },
})

/** Compiles the keys. @throws Error if a key is invalid. */
function compileKeys(config: JwtConfig, env: CompileEnv): KeySet {
  const { jwks, algorithms: allowed, allowWeak } = config
  const sources = (['file', 'inline', 'url', 'discovery'] as const).filter(
    (name) => jwks?.[name] !== undefined,
  )
  if (jwks !== undefined && sources.length !== 1)
    throw new Error("'jwks' needs exactly one of file, inline, url and discovery")
  if (jwks?.tenants !== undefined && (jwks.discovery === undefined || jwks.issuer !== undefined))
    throw new Error("'jwks.tenants' requires 'discovery' and cannot be combined with 'issuer'")
  if (jwks === undefined || (jwks.url === undefined && jwks.discovery === undefined))
    return compileKeySet(config, allowed)
  if (config.keys !== undefined) throw new Error("write either 'keys' or a remote 'jwks'")
  return openRemoteKeys(jwks, { allowed, allowWeak }, env)
}
