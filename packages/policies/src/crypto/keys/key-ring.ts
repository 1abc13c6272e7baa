import type { Static } from '@sinclair/typebox'
import { closed, list, optionalOneOf, string } from '../../shared/options/options.js'

/** Schema of `keys` for policies whose definitions refer to keys by id. */
export const keyRingSchema = list(
  closed('Key.', {
    id: string('Key id for the definitions. Encrypted values start with it.', {
      pattern: '^[A-Za-z0-9_-]{1,64}$',
    }),
    key: string(
      'Key by reference: PEM, JWK or a secret. Of a key pair only the required half is accepted: the public key to encrypt and verify, the private key to decrypt and sign. The `use`, `key_ops` and `alg` of a JWK must allow it.',
      { secret: true, minLength: 1 },
    ),
    encoding: optionalOneOf(
      ['base64', 'base64url', 'hex'],
      'Encoding of a secret. Not for PEM and JWK.',
      'base64',
    ),
  }),
  'Keys that definitions refer to.',
  { minItems: 1, maxItems: 100 },
)

/** An entry of `keys`. */
export type KeyConfig = Static<typeof keyRingSchema>[number]

/** Configured keys by id. */
export class KeyRing {
  readonly #byId = new Map<string, KeyConfig>()

  /** Creates the key ring. @throws Error for a duplicate id. */
  constructor(keys: readonly KeyConfig[]) {
    for (const key of keys) {
      if (this.#byId.has(key.id)) throw new Error(`duplicate key '${key.id}' under 'keys'; remove one`)
      this.#byId.set(key.id, key)
    }
  }

  /** Returns the key with an id. @throws Error for an unknown id. */
  get(id: string): KeyConfig {
    const key = this.#byId.get(id)
    if (key === undefined)
      throw new Error(`key '${id}' is not under 'keys'; the keys are ${[...this.#byId.keys()].join(', ')}`)
    return key
  }
}
