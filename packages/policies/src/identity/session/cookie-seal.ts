import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { openGcm, sealGcm } from '../../crypto/cipher/aes.js'

const KEY_BYTES = 32

/** Encrypts cookie values, so that browsers can neither read nor change nor misuse them. */
export class CookieSeal {
  readonly #keys: readonly KeyObject[]

  /**
   * Derives the keys.
   * @param secrets the first one encrypts and all of them decrypt, to allow rotation.
   * @param space purpose of the keys. Values of another space cannot be decrypted.
   */
  constructor(secrets: readonly string[], space: string) {
    this.#keys = secrets.map((secret) =>
      createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', space, KEY_BYTES))),
    )
  }

  /** Encrypts a text as base64url. @param purpose must be the same for decryption. */
  seal(text: string, purpose: string): string {
    return sealGcm(this.#keys[0]!, Buffer.from(text), Buffer.from(purpose)).toString('base64url')
  }

  /** Decrypts a text, or returns null for a foreign value or another purpose. */
  open(sealed: string, purpose: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url')
    for (const key of this.#keys) {
      const text = openGcm(key, bytes, Buffer.from(purpose))
      if (text !== null) return text.toString('utf8')
    }
    return null
  }
}
