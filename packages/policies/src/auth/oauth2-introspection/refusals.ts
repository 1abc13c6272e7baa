import type { CompileEnv, Reply } from '@sluice/core'
import { bearerChallenge, compileRefusals, type TokenRefusals } from '../../identity/token/refusals.js'
import type { IntrospectionConfig } from './schema.js'

/** Responses to requests without an active token. */
export interface IntrospectionRefusals extends TokenRefusals {
  readonly inactive: Reply
  readonly unavailable: Reply
}

/** Creates the refusals. @throws Error for a realm or scope that is not allowed in a challenge. */
export function introspectionRefusals(config: IntrospectionConfig, env: CompileEnv): IntrospectionRefusals {
  const challenge = bearerChallenge(config.realm)
  const invalid = (code: Parameters<CompileEnv['refusal']>[0], detail: string): Reply =>
    env.refusal(code, detail, challenge('error="invalid_token"', `error_description="${detail}"`))
  return {
    ...compileRefusals(config, env),
    malformed: invalid('GW_TOKEN_MALFORMED', 'the token is malformed or too long'),
    inactive: invalid('GW_TOKEN_INACTIVE', 'the token is not active: get a new one'),
    unavailable: env.refusal(
      'GW_AUTH_UNAVAILABLE',
      'the authorization server is unavailable: try again later',
      ['retry-after', '1'],
    ),
  }
}
