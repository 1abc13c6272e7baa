import { createSecretKey, type KeyObject } from 'node:crypto'
import { isJsonObject, type JsonObject, memberOf, parseStrictObject } from '../../engines/json/strict-json.js'
import { decode } from '../../shared/encoding/byte-text.js'
import { readText } from '../../shared/text-source.js'
import { withContext } from '../../shared/with-context.js'
import { importJwk, importPem, type KeyMaterial } from '../keys/key-material.js'
import { isMeantFor, type KeyPurpose } from '../keys/key-purpose.js'
import { DEFAULT_ENCODING, type JwksConfig, type KeyConfig, MAX_KEYS } from './key-schema.js'

const SOURCES = ['jwk', 'pem', 'file', 'secret'] as const

/** The key of a configuration. @throws Error that says what is wrong, without what is secret in it. */
export function loadKey(config: KeyConfig, purpose: KeyPurpose): KeyMaterial {
  const given = SOURCES.filter((source) => config[source] !== undefined)
  if (given.length !== 1) {
    throw new Error(
      `has ${given.length === 0 ? 'none' : given.join(' and ')} of jwk, pem, file, secret; write one`,
    )
  }
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
 * The keys of a set that can serve the purpose. Others are left out, because a set may hold keys of several uses and
 * of types to come (RFC 7517 section 5); none at all is a mistake.
 */
export function loadKeySet(config: JwksConfig, purpose: KeyPurpose): readonly KeyMaterial[] {
  if ((config.file === undefined) === (config.inline === undefined)) {
    throw new Error("'jwks' takes either file or inline")
  }
  const text = Buffer.from(config.inline ?? readText(config.file!))
  return readKeySet(text, purpose).map((read, i) => withContext(`key ${i + 1} of 'jwks'`, read))
}

/** The keys of a set, each read when it is asked for, which throws an Error where it is broken. @throws Error for no set. */
export function readKeySet(text: Uint8Array, purpose: KeyPurpose): readonly (() => KeyMaterial)[] {
  const set = parseStrictObject(text)
  const keys = set === null ? undefined : memberOf(set, 'keys')
  if (!Array.isArray(keys)) throw new Error("'jwks' is not a JSON object with a list 'keys'")
  if (keys.length > MAX_KEYS) throw new Error(`'jwks' has more than ${MAX_KEYS} keys`)
  return keys
    .filter((jwk) => isJsonObject(jwk) && isMeantFor(jwk, purpose) && isKnownType(jwk))
    .map((jwk) => () => importJwk(jwk, purpose))
}

function isKnownType(jwk: JsonObject): boolean {
  return ['RSA', 'EC', 'OKP', 'oct'].includes(memberOf(jwk, 'kty') as string)
}

function jwkOf(text: string, purpose: KeyPurpose): KeyMaterial {
  const jwk = parseStrictObject(Buffer.from(text))
  if (jwk === null) throw new Error('is not the JSON text of a JWK')
  if (Object.hasOwn(jwk, 'keys')) throw new Error("is a set of keys; write it under 'jwks'")
  return importJwk(jwk, purpose)
}

/** Only the one way to write the bytes is taken: a decoder that forgives may leave another key than was meant. */
function secretKey(secret: string, encoding: KeyConfig['secretEncoding'] = DEFAULT_ENCODING): KeyObject {
  if (secret.includes('-----BEGIN ')) throw new Error("is a PEM; write it under 'pem', not under 'secret'")
  const bytes = encoding === 'utf8' ? Buffer.from(secret) : decode(secret, encoding)
  if (bytes === null || bytes.length === 0) throw new Error(`has a secret that is not ${encoding}, or empty`)
  return createSecretKey(bytes)
}
