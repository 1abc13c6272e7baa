import { type CompileEnv, isFieldValue, type Reply } from '@sluice/core'
import { overloadRefusal } from '../../shared/overload.js'
import type { JwtConfig } from './schema.js'

/** What a request without a good token is answered, with the challenges of RFC 6750 section 3. */
export interface TokenRefusals {
  readonly missing: Reply
  readonly malformed: Reply
  readonly signature: Reply
  readonly expired: Reply
  readonly notYetValid: Reply
  readonly issuer: Reply
  readonly audience: Reply
  readonly scope: Reply
  /** Who brings it has not proved to be whom it was issued for. */
  readonly binding: Reply
  /** The issuer's keys cannot be had. */
  readonly unavailable: Reply
  /** More signatures wait for their check than may. */
  readonly overloaded: Reply
  /** The claim lacks, or has none of the values that are accepted. */
  claim(name: string): Reply
}

/** @throws Error for a realm or a scope that cannot stand in a challenge. */
export function compileRefusals({ realm, requiredScopes = [] }: JwtConfig, env: CompileEnv): TokenRefusals {
  const challenge = bearerChallenge(realm)
  const unsound = requiredScopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
  if (unsound !== undefined)
    throw new Error(`'${unsound}' is not a scope; write one word for each, without quotes`)
  const invalid = (code: Parameters<CompileEnv['refusal']>[0], detail: string): Reply =>
    env.refusal(code, detail, challenge('error="invalid_token"', `error_description="${detail}"`))
  return {
    missing: env.refusal('GW_AUTH_MISSING', 'send a token where the API expects it', challenge()),
    malformed: invalid('GW_TOKEN_MALFORMED', 'the token is not a signed JWT that can be read'),
    signature: invalid('GW_TOKEN_SIGNATURE', 'the signature of the token is not one that is accepted here'),
    expired: invalid('GW_TOKEN_EXPIRED', 'the token has expired; get a new one'),
    notYetValid: invalid('GW_TOKEN_NOT_YET_VALID', 'the token is not valid yet; try it later'),
    issuer: invalid('GW_TOKEN_ISSUER', 'the token is of an issuer that is not accepted here'),
    audience: invalid('GW_TOKEN_AUDIENCE', 'the token is meant for another audience'),
    binding: invalid(
      'GW_TOKEN_BINDING',
      'the token is bound to a certificate or a key, and is taken with that certificate alone',
    ),
    scope: env.refusal(
      'GW_SCOPE_MISSING',
      `the token lacks a scope; get one with ${requiredScopes.join(' ')}`,
      challenge('error="insufficient_scope"', `scope="${requiredScopes.join(' ')}"`),
    ),
    unavailable: env.refusal('GW_AUTH_UNAVAILABLE', 'the keys of the issuer cannot be had; try again later', [
      'retry-after',
      '1',
    ]),
    overloaded: overloadRefusal('too many tokens are being checked; try again'),
    claim: (name) =>
      env.refusal(
        'GW_TOKEN_CLAIMS',
        `the token needs the claim '${name}' with a value that is accepted here`,
      ),
  }
}

/** The field of a challenge (RFC 6750 section 3), made of its parameters. @throws Error for a realm that cannot stand in it. */
export function bearerChallenge(realm: string | undefined): (...parameters: string[]) => string[] {
  if (realm !== undefined && !isFieldValue(realm))
    throw new Error("'realm' has a character that no header may hold; use visible ASCII and spaces")
  const space = realm === undefined ? [] : [`realm="${realm.replaceAll(/["\\]/g, '\\$&')}"`]
  return (...parameters) => ['www-authenticate', `Bearer ${[...space, ...parameters].join(', ')}`.trimEnd()]
}
