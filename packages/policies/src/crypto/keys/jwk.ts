import { type JsonObject, parseStrictObject } from '../../engines/json/strict-json.js'
import { type KeyUse, useFlaw } from './key-purpose.js'

/**
 * Parses a JWK that may be used so.
 * @throws Error when the text is no JSON object whose names are all different, or the JWK is for something else.
 */
export function jwkOf(text: string, use: KeyUse, what: string): JsonObject {
  const jwk = parseStrictObject(Buffer.from(text))
  if (jwk === null) {
    throw new Error(`${what} begins like a JWK and is not a JSON object that has each name once`)
  }
  const flaw = useFlaw(jwk, use)
  if (flaw !== null) throw new Error(`${what} ${flaw}`)
  return jwk
}
