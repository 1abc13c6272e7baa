import { createSecretKey, type KeyObject } from 'node:crypto'
import { decode } from '../../shared/encoding/byte-text.js'
import { isJsonObject, memberOf, parseStrictObject } from '../../shared/json/strict-json.js'
import { readText } from '../../shared/options/text-source.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { importJwk, importPem, type KeyMaterial } from '../keys/key-material.js'
import { allowsPurpose, type KeyPurpose } from '../keys/key-purpose.js'
import { type JwksConfig, type KeyConfig, MAX_KEYS } from './key-schema.js'

const SOURCES = ['jwk', 'pem', 'file', 'secret'] as const

/** Loads a configured key. @throws Error that says what is wrong, without secrets. */
export function loadKey(config: KeyConfig, purpose: KeyPurpose): KeyMaterial {
  const given = SOURCES.filter((source) => config[source] !== undefined)
  if (given.length !== 1)
    throw new Error(
      `has ${given.length === 0 ? 'none' : given.join(' and ')} of jwk, pem, file, secret; set exactly one`,
    )
  const material = readSource(config, purpose)
  return config.kid === undefined ? material : { ...material, kid: config.kid }
}

function readSource(config: KeyConfig, purpose: KeyPurpose): KeyMaterial {
  if (config.secret !== undefined) return unnamed(secretKey(config.secret, config.secretEncoding))
  if (config.jwk !== undefined) return jwkOf(config.jwk, purpose)
  if (config.pem !== undefined) return unnamed(importPem(config.pem, purpose))
  const text = readText(config.file!)
  return text.trimStart().startsWith('{') ? jwkOf(text, purpose) : unnamed(importPem(text, purpose))
}

function unnamed(key: KeyObject): KeyMaterial {
  return { key, kid: null, alg: null }
}

/**
 * Loads the keys of a set that can serve the purpose. Skips others, because a set may contain keys for other uses and
 * future types (RFC 7517 section 5). A set without any usable key is an error.
 */
export function loadKeySet(config: JwksConfig, purpose: KeyPurpose): readonly KeyMaterial[] {
  if ((config.file === undefined) === (config.inline === undefined))
    throw new Error("'jwks' needs either file or inline")
  const text = Buffer.from(config.inline ?? readText(config.file!))
  return readKeySet(text, purpose).map((read, i) => withContext(`key ${i + 1} of 'jwks'`, read))
}

/**
 * Returns readers for the keys of a set. A reader throws an Error for an invalid key.
 * @throws Error for an invalid set.
 */
export function readKeySet(text: Uint8Array, purpose: KeyPurpose): readonly (() => KeyMaterial)[] {
  const set = parseStrictObject(text)
  const keys = set === null ? undefined : memberOf(set, 'keys')
  if (!Array.isArray(keys)) throw new Error("'jwks' is not a JSON object with a list 'keys'")
  if (keys.length > MAX_KEYS) throw new Error(`'jwks' has more than ${MAX_KEYS} keys`)
  return keys
    .filter(
      (jwk) =>
        isJsonObject(jwk) &&
        allowsPurpose(jwk, purpose) &&
        ['RSA', 'EC', 'OKP', 'oct'].includes(memberOf(jwk, 'kty') as string),
    )
    .map((jwk) => () => importJwk(jwk, purpose))
}

function jwkOf(text: string, purpose: KeyPurpose): KeyMaterial {
  const jwk = parseStrictObject(Buffer.from(text))
  if (jwk === null) throw new Error('is not the JSON text of a JWK')
  if (Object.hasOwn(jwk, 'keys')) throw new Error("is a key set; use 'jwks' for it")
  return importJwk(jwk, purpose)
}

/** Decodes a secret strictly: a lenient decoder could produce another key than intended. */
function secretKey(secret: string, encoding: KeyConfig['secretEncoding'] = 'utf8'): KeyObject {
  if (secret.includes('-----BEGIN ')) throw new Error("is a PEM; use 'pem' instead of 'secret'")
  const bytes = encoding === 'utf8' ? Buffer.from(secret) : decode(secret, encoding)
  if (bytes === null || bytes.length === 0)
    throw new Error(`has a secret that is empty or not valid ${encoding}`)
  return createSecretKey(bytes)
}
