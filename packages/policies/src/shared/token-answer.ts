/** Values of `token_type` that mean a bearer token, in lower case without separators. Some servers omit the value. */
const BEARER_TYPES: ReadonlySet<string> = new Set([
  '',
  'bearer',
  'bearertoken',
  'accesstoken',
  'jwt',
  'token',
])

/**
 * True if the `token_type` of a token endpoint means a bearer token. Servers leave it out, although RFC 6749, 5.1
 * requires it, or write `BearerToken`. Tokens of other types (`mac`, `DPoP`) are of no use without their key.
 */
export function isBearerType(type: unknown): boolean {
  if (type === undefined || type === null) return true
  return typeof type === 'string' && BEARER_TYPES.has(type.toLowerCase().replaceAll(/[ _-]/g, ''))
}

/** True if a token endpoint has issued a token: 200 (RFC 6749, 5.1), or 201, as some servers answer. */
export function isIssued(status: number): boolean {
  return status === 200 || status === 201
}
