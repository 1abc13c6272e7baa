import { type CompileEnv, FORM_TYPE, type HttpAnswer, isFieldValue, parseDuration } from '@sluice/core'
import { compileClientAuth } from '../../identity/client-auth/client-auth.js'
import { callOptions } from '../../shared/call/call-options.js'
import { parseEndpoint } from '../../shared/call/endpoint.js'
import { isBearerType, isIssued } from '../../shared/call/token-answer.js'
import { memberOf, parseStrictObject } from '../../shared/json/strict-json.js'
import type { GrantForm } from './grants.js'
import { type BackendAuthConfig, DEFAULT_TIMEOUT, DEFAULT_TTL } from './schema.js'
import { type IssuedToken, TokenRefused } from './token-source.js'

type Oauth2Config = NonNullable<BackendAuthConfig['oauth2']>

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
  'invalid_grant',
  'invalid_request',
  'invalid_token',
  'invalid_target',
  'access_denied',
])
/** Parameters that the gateway sets itself. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  'assertion',
  'subject_token',
  'subject_token_type',
  'requested_token_type',
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'scope',
  'audience',
  'resource',
])

/** Requests a token with the parameters of a grant. Rejects with any Error. */
export type RequestToken = (grant: GrantForm) => Promise<IssuedToken>

/** Compiles the token request. @throws Error if the configuration is invalid. */
export function compileTokenRequest(config: Oauth2Config, env: CompileEnv): RequestToken {
  const { origin, path } = parseEndpoint(config.tokenUrl, 'oauth2.tokenUrl')
  const authenticate = compileClientAuth(config, config.tokenUrl)
  const { timeout = DEFAULT_TIMEOUT, tls } = config
  const bounds = callOptions({ timeout, tls }, 'oauth2.timeout')
  const client = env.httpClient({ origin, ...bounds, maxResponseBytes: MAX_ANSWER_BYTES })
  const written = compileForm(config)
  const defaultMs = parseDuration(config.defaultTtl ?? DEFAULT_TTL)
  return async (grant) => {
    const form = new URLSearchParams({ ...grant, ...Object.fromEntries(written) })
    const headers = ['content-type', FORM_TYPE, 'accept', 'application/json']
    await authenticate(form, headers)
    const body = Buffer.from(form.toString())
    return tokenOf(await client.call({ method: 'POST', path, headers, body }), defaultMs)
  }
}

function compileForm({ scopes = [], audience, resource, parameters = {} }: Oauth2Config): URLSearchParams {
  const form = new URLSearchParams()
  if (scopes.length > 0) form.set('scope', scopes.join(' '))
  if (audience !== undefined) form.set('audience', audience)
  if (resource !== undefined) form.set('resource', resource)
  for (const [name, value] of Object.entries(parameters)) {
    if (OWN_PARAMETERS.has(name))
      throw new Error(`'oauth2.parameters' must not contain '${name}'; use the option for it`)
    form.set(name, value)
  }
  return form
}

/**
 * Reads the token from a response (RFC 6749 section 5.1). @throws Error that names the problem without
 * quoting the response.
 */
function tokenOf({ status, body }: HttpAnswer, defaultMs: number): IssuedToken {
  const answer = parseStrictObject(body)
  if (!isIssued(status)) {
    const code = errorCode(answer)
    const message = `the token endpoint responded with ${status}${code === '' ? '' : ` (${code})`}`
    throw status < 500 && SUBJECT_ERRORS.has(code) ? new TokenRefused(message) : new Error(message)
  }
  if (answer === null) throw new Error('the token endpoint did not respond with a JSON object')
  const value = memberOf(answer, 'access_token')
  if (typeof value !== 'string' || value === '' || value.length > MAX_TOKEN_LENGTH || !isFieldValue(value))
    throw new Error('the response of the token endpoint has no valid access token')
  if (!isBearerType(memberOf(answer, 'token_type')))
    throw new Error('the token endpoint issued a token that is not a bearer token')
  return { value, lifeMs: lifeOf(memberOf(answer, 'expires_in'), defaultMs) }
}

/** Returns the lifetime of a token in milliseconds. Some servers write the seconds as a string. */
function lifeOf(written: unknown, defaultMs: number): number {
  const isText = typeof written === 'string' && /^\d{1,10}$/.test(written)
  const seconds = typeof written === 'number' || isText ? Number(written) : Number.NaN
  if (Number.isNaN(seconds)) return defaultMs
  if (seconds <= 0) throw new Error('the token endpoint issued a token that has already expired')
  return Math.min(seconds * 1000, MAX_LIFE_MS)
}

/**
 * Returns the error code of RFC 6749 section 5.2. The description is ignored because it may repeat secrets.
 */
function errorCode(answer: ReturnType<typeof parseStrictObject>): string {
  const code = answer === null ? undefined : memberOf(answer, 'error')
  return typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) ? code : ''
}
