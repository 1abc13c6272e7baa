import { type HttpAnswer, isFieldValue } from '@sluice/core'
import { type JsonObject, memberOf, parseStrictObject } from '../../shared/json/strict-json.js'

/** Values of `token_type` that mean a bearer token, in lower case without separators. Some servers omit the value. */
const BEARER_TYPES: ReadonlySet<string> = new Set([
  ...['', 'bearer', 'bearertoken', 'accesstoken', 'jwt', 'token'],
])

/** Thrown if an authorization server refuses a grant, so that a retry with the same input cannot succeed. */
export class GrantRefused extends Error {
  override readonly name = 'GrantRefused'
}

/** Rules for reading a token response. */
export interface TokenResponseRules {
  /** Maximum length of each token in characters. */
  readonly maxLength: number
  /** Returns true if an error response refuses the grant, rather than the client or all grants. */
  isRefusal(code: string, status: number): boolean
}

/**
 * Reads the tokens of a response (RFC 6749 section 5.1). Status 201 of some servers is accepted too.
 * @throws GrantRefused, or an Error that names the problem without quoting the response.
 */
export function readTokenResponse({ status, body }: HttpAnswer, rules: TokenResponseRules) {
  const answer = parseStrictObject(body)
  if (status !== 200 && status !== 201) {
    const code = errorCodeIn(answer)
    const message = `the token endpoint responded with ${withCode(status, code)}`
    throw rules.isRefusal(code, status) ? new GrantRefused(message) : new Error(message)
  }
  if (answer === null) throw new Error('the token endpoint did not respond with a JSON object')
  const tokenIn = (name: string): string | null => {
    const token = memberOf(answer, name) ?? null
    const isUsable = typeof token === 'string' && token !== '' && token.length <= rules.maxLength
    if (token !== null && !(isUsable && isFieldValue(token)))
      throw new Error(`the token endpoint issued an unusable '${name}'`)
    return token as string | null
  }
  const accessToken = tokenIn('access_token')
  if (accessToken === null) throw new Error('the token endpoint issued no access token')
  if (!isBearerType(memberOf(answer, 'token_type')))
    throw new Error('the token endpoint issued a token that is not a bearer token')
  return { accessToken, tokenIn, lifeMs: lifeIn(answer), scope: memberOf(answer, 'scope') }
}

/**
 * Returns true if the `token_type` of a token response means a bearer token. Some servers omit it, although RFC 6749
 * section 5.1 requires it, or write `BearerToken`. Other tokens (`mac`, `DPoP`) are useless without their key.
 */
function isBearerType(type: unknown): boolean {
  if (type === undefined || type === null) return true
  return typeof type === 'string' && BEARER_TYPES.has(type.toLowerCase().replaceAll(/[ _-]/g, ''))
}

/** Returns the lifetime in milliseconds, or null if it is missing. Some servers write the seconds as a string. */
function lifeIn(answer: JsonObject): number | null {
  const written = memberOf(answer, 'expires_in')
  const isText = typeof written === 'string' && /^\d{1,10}$/.test(written)
  return typeof written === 'number' || isText ? Number(written) * 1000 : null
}

/**
 * Returns the error code of RFC 6749 section 5.2, or an empty text. The description is ignored because it may repeat
 * secrets.
 */
export function errorCodeIn(answer: JsonObject | null): string {
  const code = answer === null ? undefined : memberOf(answer, 'error')
  return typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) ? code : ''
}

/** Returns a status and its error code for messages. */
export function withCode(status: number, code: string): string {
  return code === '' ? String(status) : `${status} (${code})`
}
