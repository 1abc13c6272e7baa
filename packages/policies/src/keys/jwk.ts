import { type JsonObject, parseStrictObject } from '../json/strict-json.js'
import { type KeyPurpose, purposeFlaw } from './key-purpose.js'

/**
 * Parses a JWK that may serve the purpose.
 * @throws Error when the text is no JSON object whose names are all different, or the JWK is for something else.
 */
export function jwkOf(text: string, purpose: KeyPurpose, what: string): JsonObject {
  const jwk = parseStrictObject(Buffer.from(text))
  if (jwk === null) {
    throw new Error(`${what} begins like a JWK and is not a JSON object that has each name once`)
  }
  const flaw = purposeFlaw(jwk, purpose)
  if (flaw !== null) throw new Error(`${what} ${flaw}`)
  return jwk
}
