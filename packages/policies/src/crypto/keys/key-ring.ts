import type { Static } from '@sinclair/typebox'
import { closed, list, optionalOneOf, string } from '../../shared/options.js'

/** The option `keys` of policies whose definitions name keys by their id. */
export const keyRingSchema = list(
  closed('One key.', {
    id: string('Its name, for the definitions; encrypted values begin with it.', {
      pattern: '^[A-Za-z0-9_-]{1,64}$',
    }),
    key: string(
      'The key by reference: PEM or JWK, or a secret. Of a pair only the half that is needed is taken: the public one to encrypt and verify, the private one to decrypt and sign; of JWKs only those whose `use`, `key_ops` and `alg` allow it.',
      { secret: true, minLength: 1 },
    ),
    encoding: optionalOneOf(
      ['base64', 'base64url', 'hex'],
      'How a secret is written; not for PEM and JWK.',
      'base64',
    ),
  }),
  'The keys that definitions name.',
  { minItems: 1, maxItems: 100 },
)

export type KeyConfig = Static<typeof keyRingSchema>[number]

/** Keys by their id. */
export class KeyRing {
  readonly #byId = new Map<string, KeyConfig>()

  /** @throws Error when two keys have one id. */
  constructor(keys: readonly KeyConfig[]) {
    for (const key of keys) {
      if (this.#byId.has(key.id)) throw new Error(`key '${key.id}' stands twice under 'keys'; keep one`)
      this.#byId.set(key.id, key)
    }
  }

  /** @throws Error when there is no such key. */
  get(id: string): KeyConfig {
    const key = this.#byId.get(id)
    if (key === undefined) {
      throw new Error(`key '${id}' is not under 'keys'; the keys are ${[...this.#byId.keys()].join(', ')}`)
    }
    return key
  }
}
