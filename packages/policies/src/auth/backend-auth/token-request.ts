import { type CompileEnv, parseDuration } from '@sluice/core'
import { compileClientCalls } from '../../identity/oauth/client-auth.js'
import { readTokenResponse } from '../../identity/oauth/token-response.js'
import { openEndpoint } from '../../shared/call/endpoint.js'
import type { GrantForm, Oauth2Config } from './grants.js'
import type { IssuedToken } from './token-source.js'

const MAX_ANSWER_BYTES = 64 * 1024
/** Maximum length of a token, so that it fits into a request header. */
const MAX_TOKEN_LENGTH = 16_384
/** Maximum lifetime of a token in milliseconds (one day). Longer lifetimes are capped. */
const MAX_LIFE_MS = 86_400_000
/**
 * Error codes of RFC 6749 section 5.2 and RFC 8693 section 2.2.2 that concern the subject rather than the
 * gateway.
 */
const SUBJECT_ERRORS: ReadonlySet<string> = new Set([
  ...['invalid_grant', 'invalid_request', 'invalid_token', 'invalid_target', 'access_denied'],
])
/** Parameters that the gateway sets itself. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['assertion', 'subject_token', 'subject_token_type', 'requested_token_type', 'grant_type'],
  ...['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'],
  ...['scope', 'audience', 'resource'],
])

/** Requests a token with the parameters of a grant. Rejects with any Error. */
export type RequestToken = (grant: GrantForm) => Promise<IssuedToken>

/** Compiles the token request. @throws Error if the configuration is invalid. */
export function compileTokenRequest(config: Oauth2Config, env: CompileEnv): RequestToken {
  const { tokenUrl: url, timeout, tls, defaultTtl } = config
  const { client, path } = openEndpoint({ url, timeout, tls, maxResponseBytes: MAX_ANSWER_BYTES }, env, {
    url: 'oauth2.tokenUrl',
    timeout: 'oauth2.timeout',
  })
  const build = compileClientCalls(config, url)
  const parameters = compileParameters(config)
  const defaultMs = parseDuration(defaultTtl)
  return async (grant) => {
    const answer = await client.call({ ...(await build({ ...grant, ...parameters })), path })
    const { accessToken, lifeMs } = readTokenResponse(answer, {
      maxLength: MAX_TOKEN_LENGTH,
      isRefusal: (code, status) => status < 500 && SUBJECT_ERRORS.has(code),
    })
    if (lifeMs !== null && lifeMs <= 0)
      throw new Error('the token endpoint issued a token that has already expired')
    return { value: accessToken, lifeMs: lifeMs === null ? defaultMs : Math.min(lifeMs, MAX_LIFE_MS) }
  }
}

function compileParameters({ scopes = [], audience, resource, parameters = {} }: Oauth2Config): GrantForm {
  const own = Object.keys(parameters).find((name) => OWN_PARAMETERS.has(name))
  if (own !== undefined)
    throw new Error(`'oauth2.parameters' must not contain '${own}'; use the option for it`)
  return {
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
    ...parameters,
  }
}
