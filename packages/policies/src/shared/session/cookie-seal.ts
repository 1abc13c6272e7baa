import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { openGcm, sealGcm } from '../../crypto/cipher/aes.js'

const KEY_BYTES = 32

/** Encrypts what browsers keep, so that it can be neither read nor changed, nor used for anything else. */
export class CookieSeal {
  readonly #keys: readonly KeyObject[]

  /**
   * @param secrets the first one seals, all of them open, so that one can take the place of another.
   * @param space what the texts are for: those of another space do not open.
   */
  constructor(secrets: readonly string[], space: string) {
    this.#keys = secrets.map((secret) =>
      createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', space, KEY_BYTES))),
    )
  }

  /** As base64url. @param purpose has to be named again to open it. */
  seal(text: string, purpose: string): string {
    return sealGcm(this.#keys[0]!, Buffer.from(text), Buffer.from(purpose)).toString('base64url')
  }

  /** Null: it is none of ours, or for another purpose. */
  open(sealed: string, purpose: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url')
    for (const key of this.#keys) {
      const text = openGcm(key, bytes, Buffer.from(purpose))
      if (text !== null) return text.toString('utf8')
    }
    return null
  }
}
