import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Keeps the key that encrypts apart from the one that hashes, though both come from one secret. */
const CIPHER_PURPOSE = 'traffic log: encrypted values'

/**
 * A key of the traffic log. What it makes stands between tildes, which neither JSON nor XML nor forms have to escape:
 *
 *     ~hmac~<key id>~<HMAC-SHA-256, base64url>~
 *     ~enc~<key id>~<nonce, ciphertext, tag of AES-256-GCM, base64url>~
 *
 * `~encv~` instead of `~enc~`: the value had no quotes around it, those that stand there now go when it is decrypted.
 */
export class LogKey {
  readonly #id: string
  readonly #secret: string
  readonly #cipherKey: Buffer

  constructor(id: string, secret: string) {
    this.#id = id
    this.#secret = secret
    this.#cipherKey = cipherKey(secret)
  }

  /** The same for the same text, so that records can be joined by it. */
  hash(text: string): string {
    const digest = createHmac('sha256', this.#secret).update(text, 'utf8').digest('base64url')
    return `~hmac~${this.#id}~${digest}~`
  }

  /** Another one each time. */
  encrypt(text: string, isUnquoted: boolean): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#cipherKey, nonce)
    cipher.setAAD(Buffer.from(this.#id))
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `~${isUnquoted ? 'encv' : 'enc'}~${this.#id}~${sealed.toString('base64url')}~`
  }
}

/** What a secret has encrypted under a key id, or null when it was not this secret. */
export function decryptWith(secretKey: Buffer, id: string, sealed: Buffer): string | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', secretKey, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(id))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

/** The key of AES-256 that comes from a secret. */
export function cipherKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', CIPHER_PURPOSE, 32))
}
