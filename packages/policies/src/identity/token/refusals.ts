import type { CompileEnv, ErrorCode, Reply } from '@sluice/core'
import { overloadRefusal } from '../../shared/outcome/overload.js'
import { quotedRealm } from '../consumers/basic-credentials.js'

/** Responses to requests without a valid token. */
export type TokenRefusals = ReturnType<typeof compileRefusals>

/**
 * Compiles the responses, with the challenges of RFC 6750 section 3.
 * @throws Error if the realm or a scope cannot be written in a challenge.
 */
export function compileRefusals(
  { realm, requiredScopes = [] }: { readonly realm?: string; readonly requiredScopes?: readonly string[] },
  env: CompileEnv,
) {
  const challenge = bearerChallenge(realm)
  const invalid = (code: ErrorCode, detail: string): Reply =>
    env.refusal(code, detail, challenge('error="invalid_token"', `error_description="${detail}"`))
  return {
    /** Returns the response for another problem of the token. */
    invalid,
    missing: env.refusal('GW_AUTH_MISSING', 'send a token where the API expects it', challenge()),
    malformed: invalid('GW_TOKEN_MALFORMED', 'the token is not a valid signed JWT'),
    signature: invalid('GW_TOKEN_SIGNATURE', 'the signature of the token is not accepted'),
    expired: invalid('GW_TOKEN_EXPIRED', 'the token has expired; request a new one'),
    notYetValid: invalid('GW_TOKEN_NOT_YET_VALID', 'the token is not valid yet; try again later'),
    issuer: invalid('GW_TOKEN_ISSUER', 'the issuer of the token is not accepted'),
    audience: invalid('GW_TOKEN_AUDIENCE', 'the token is for a different audience'),
    /** The caller has not proved to be the holder of the token. */
    binding: invalid(
      'GW_TOKEN_BINDING',
      'the token is bound to a certificate or a key, and is only accepted with that certificate',
    ),
    scope: scopeRefusal('token', requiredScopes, challenge, env),
    unavailable: env.refusal(
      'GW_AUTH_UNAVAILABLE',
      'the keys of the issuer are not available; try again later',
      ['retry-after', '1'],
    ),
    /** Too many signatures wait for verification. */
    overloaded: overloadRefusal('too many tokens are being checked; try again'),
    /** Returns the response for a claim that is missing or has no accepted value. */
    claim: (name: string): Reply =>
      env.refusal('GW_TOKEN_CLAIMS', `the token needs the claim '${name}' with an accepted value`),
  }
}

/** Builds the headers of a challenge from its parameters. */
type Challenge = (...parameters: string[]) => string[]

/** Compiles the challenge (RFC 6750 section 3). @throws Error if the realm cannot be written in it. */
export function bearerChallenge(realm?: string): Challenge {
  const space = realm === undefined ? [] : [`realm="${quotedRealm(realm)}"`]
  return (...parameters) => ['www-authenticate', `Bearer ${[...space, ...parameters].join(', ')}`.trimEnd()]
}

/** Builds the response for missing scopes. @throws Error if a scope cannot be written in a challenge. */
export function scopeRefusal(
  credential: string,
  scopes: readonly string[],
  challenge: Challenge,
  env: CompileEnv,
): Reply {
  const unsound = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
  if (unsound !== undefined)
    throw new Error(
      `'${unsound}' is not a valid scope; write each scope separately, without spaces and quotes`,
    )
  const wanted = scopes.join(' ')
  return env.refusal(
    'GW_SCOPE_MISSING',
    `the ${credential} lacks a scope; request one with ${wanted}`,
    challenge('error="insufficient_scope"', `scope="${wanted}"`),
  )
}
