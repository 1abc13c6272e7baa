import type { JsonWebKey } from 'node:crypto'

/** Parses a JWK. @throws Error when the text is no JSON object. */
export function jwkOf(text: string, what: string): JsonWebKey {
  try {
    const jwk: unknown = JSON.parse(text)
    if (typeof jwk === 'object' && jwk !== null && !Array.isArray(jwk)) return jwk as JsonWebKey
  } catch {
    // The message of the parser would repeat a part of the key.
  }
  throw new Error(`${what} begins like a JWK and is not a JSON object`)
}
