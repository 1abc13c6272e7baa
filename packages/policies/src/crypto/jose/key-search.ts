import type { Check } from '../keys/signature-checks.js'
import type { SignatureKey } from './key-set.js'

/** Who signed; undefined: none of the keys. */
export interface Signer {
  readonly key: SignatureKey | undefined
}

/** Tries the keys in turn. */
export function keySearch(
  keys: readonly SignatureKey[],
  input: Uint8Array,
  signature: Uint8Array,
): Check<Signer> {
  return {
    now: () => ({ key: keys.find(({ check }) => check.verifies(input, signature)) }),
    async later() {
      for (const key of keys) {
        if (await key.check.verifiesLater(input, signature)) return { key }
      }
      return { key: undefined }
    },
  }
}
