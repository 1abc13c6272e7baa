import type { JsonWebKey } from 'node:crypto'
import { type KeyConfig, keyName } from '../../crypto/jose/key-schema.js'
import { loadKey, loadKeySet } from '../../crypto/jose/load-key.js'
import type { KeyMaterial } from '../../crypto/keys/key-material.js'
import { rsaWeaknessOf } from '../../crypto/keys/key-strength.js'
import { withContext } from '../../shared/outcome/with-context.js'
import { type Encryption, isAllowedBy, isKeyFor, type KeyAlgorithm } from './key-algorithm.js'
import type { JweConfig } from './schema.js'

/** A key that can be sent to a thread. Threads read no files, so they use the key that was loaded. */
export interface PlainKey {
  readonly kid: string | null
  readonly algorithms: readonly KeyAlgorithm[]
  readonly jwk: JsonWebKey
}

/** Input of a thread that decrypts. */
export interface DecryptionPlan {
  readonly action: 'decrypt'
  readonly keys: readonly PlainKey[]
  readonly encryptions: readonly Encryption[]
}

/** Input of a thread that encrypts. */
export interface EncryptionPlan {
  readonly action: 'encrypt'
  readonly key: PlainKey
  readonly header: Readonly<Record<string, string>> & { readonly alg: string; readonly enc: string }
}

/** Loads the keys of `decrypt`. @throws Error that names the key and the remedy. */
export function decryptionPlan(config: NonNullable<JweConfig['decrypt']>): DecryptionPlan {
  const { keys = [], jwks, algorithms, encryptions } = config
  if (config.keys === undefined && jwks === undefined) throw new Error("configure 'keys', 'jwks' or both")
  const plain = keys.map((key, i) =>
    withContext(keyName(i, key), () => plainKey(loadKey(key, 'decrypt'), key, { algorithms, encryptions })),
  )
  const set = (jwks === undefined ? [] : loadKeySet(jwks, 'decrypt')).map((material) =>
    withContext(`key '${material.kid ?? '(without kid)'}' of 'jwks'`, () =>
      plainKey(material, {}, { algorithms, encryptions }),
    ),
  )
  return { action: 'decrypt', keys: [...plain, ...set], encryptions }
}

/** Loads the key of `encrypt` and builds the header of all messages. @throws Error if the key is invalid. */
export function encryptionPlan(config: NonNullable<JweConfig['encrypt']>): EncryptionPlan {
  const { key: source, algorithm: alg, encryption: enc, typ, cty } = config
  const key = withContext("the key under 'encrypt'", () =>
    plainKey(loadKey(source, 'encrypt'), {}, { algorithms: [alg], encryptions: [enc] }),
  )
  const header = {
    alg,
    enc,
    ...(key.kid !== null && { kid: key.kid }),
    ...(typ !== undefined && { typ }),
    ...(cty !== undefined && { cty }),
  }
  return { action: 'encrypt', key, header }
}

interface Allowed {
  readonly algorithms: readonly KeyAlgorithm[]
  readonly encryptions: readonly Encryption[]
}

function plainKey(material: KeyMaterial, config: KeyConfig, allowed: Allowed): PlainKey {
  const { key, kid, alg } = material
  const algorithms = allowed.algorithms.filter(
    (name) =>
      isKeyFor(name, key, allowed.encryptions) &&
      isAllowedBy(name, alg, allowed.encryptions) &&
      (config.algorithms === undefined || config.algorithms.includes(name)),
  )
  if (algorithms.length === 0)
    throw new Error(`does not fit any of the allowed algorithms, which are ${allowed.algorithms.join(', ')}`)
  if (key.type === 'secret' && algorithms.length > 1)
    throw new Error(
      `fits several algorithms (${algorithms.join(' and ')}); set the intended one under its 'algorithms'`,
    )
  const weakness = rsaWeaknessOf(key)
  if (weakness !== null) throw new Error(weakness)
  return { kid, algorithms, jwk: key.export({ format: 'jwk' }) }
}
