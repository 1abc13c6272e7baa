import { definePolicy } from '@sluice/core'
import { compileKeySet } from '../../crypto/jose/local-key-set.js'
import { signatureChecks } from '../../crypto/keys/signature-checks.js'
import { compileRefusals } from './refusals.js'
import { DEFAULT_ALGORITHMS, jwtSchema } from './schema.js'
import { TokenGate } from './token-gate.js'
import { tokenLocation } from './token-location.js'

/** Asks for a signed JWT, and names the consumer. */
export const jwt = definePolicy({
  name: 'jwt',
  summary:
    'Asks for a signed JWT (RFC 7519), checks its signature, its times and its claims, and names the consumer.',
  schema: jwtSchema,
  cost: 'cpu',
  secretNames: (config) => [tokenLocation(config).name],
  authenticates: () => 'request',
  compile(config, env) {
    const keys = compileKeySet(config, config.algorithms ?? DEFAULT_ALGORITHMS)
    const gate = new TokenGate(config, keys, compileRefusals(config, env), signatureChecks(env))
    return { name: 'jwt', onRequest: (x) => gate.admit(x) }
  },
})
