import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** Texts that leave the gateway and come back: encrypted and authenticated (AES-256-GCM), for one use by one policy. */
export class SealedText {
  readonly #keys: readonly Buffer[]

  /**
   * @param secrets the first one seals, all of them open, so that one can take the place of another.
   * @param space what the texts are for: those of another space do not open.
   */
  constructor(secrets: readonly string[], space: string) {
    this.#keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', space, KEY_BYTES)))
  }

  /** As base64url. @param purpose has to be named again to open it. */
  seal(text: string, purpose: string): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#keys[0]!, iv)
    cipher.setAAD(Buffer.from(purpose))
    return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
      'base64url',
    )
  }

  /** Null: it is none of ours, or for another purpose. */
  open(sealed: string, purpose: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length < IV_BYTES + TAG_BYTES) return null
    for (const key of this.#keys) {
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(purpose))
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES))
      try {
        const text = decipher.update(bytes.subarray(IV_BYTES, bytes.length - TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        // Sealed with another key, or changed.
      }
    }
    return null
  }
}
