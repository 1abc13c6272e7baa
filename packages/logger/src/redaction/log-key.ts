import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Separates the encryption key from the hash key, which are derived from the same secret. */
const CIPHER_PURPOSE = 'traffic log: encrypted values'

/**
 * A key of the traffic log. Its output is enclosed in tildes, which need no escaping in JSON, XML or forms:
 *
 *     ~hmac~<key id>~<HMAC-SHA-256, base64url>~
 *     ~enc~<key id>~<nonce, ciphertext, tag of AES-256-GCM, base64url>~
 *
 * `~encv~` instead of `~enc~` marks a value that had no quotes. Decryption removes the quotes added around
 * it.
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

  /** Hashes a text. The same text always gives the same hash, so that records can be joined. */
  hash(text: string): string {
    const digest = createHmac('sha256', this.#secret).update(text, 'utf8').digest('base64url')
    return `~hmac~${this.#id}~${digest}~`
  }

  /** Encrypts a text. The result differs each time. */
  encrypt(text: string, isUnquoted: boolean): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#cipherKey, nonce)
    cipher.setAAD(Buffer.from(this.#id))
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `~${isUnquoted ? 'encv' : 'enc'}~${this.#id}~${sealed.toString('base64url')}~`
  }
}

/** Decrypts a value that was encrypted under a key ID. Returns null if the secret is wrong. */
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

/** Derives the AES-256 key from a secret. */
export function cipherKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', CIPHER_PURPOSE, 32))
}
