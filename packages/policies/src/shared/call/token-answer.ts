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
 * Returns true if the `token_type` of a token response means a bearer token. Some servers omit it, although RFC 6749
 * section 5.1 requires it, or write `BearerToken`. Other tokens (`mac`, `DPoP`) are useless without their key.
 */
export function isBearerType(type: unknown): boolean {
  if (type === undefined || type === null) return true
  return typeof type === 'string' && BEARER_TYPES.has(type.toLowerCase().replaceAll(/[ _-]/g, ''))
}

/** Returns true if a token endpoint has issued a token: status 200 (RFC 6749 section 5.1), or 201 of some servers. */
export function isIssued(status: number): boolean {
  return status === 200 || status === 201
}
