import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

/** HMACs under the secrets of a policy. */
export class Mac {
  readonly #algorithm: string
  readonly #keys: readonly KeyObject[]

  constructor(algorithm: string, secrets: readonly Uint8Array[]) {
    this.#algorithm = algorithm
    this.#keys = secrets.map((secret) => createSecretKey(secret))
  }

  /** Under the first secret. */
  sign(pieces: readonly (string | Uint8Array)[]): Buffer {
    return this.#under(this.#keys[0]!, pieces)
  }

  /**
   * Whether any of the signatures is right under any secret. Every pair is compared, so that the time does not tell
   * which one was.
   */
  matches(pieces: readonly (string | Uint8Array)[], signatures: readonly Buffer[]): boolean {
    let matches = false
    for (const key of this.#keys) {
      const expected = this.#under(key, pieces)
      for (const signature of signatures) {
        if (signature.length === expected.length && timingSafeEqual(signature, expected)) matches = true
      }
    }
    return matches
  }

  #under(key: KeyObject, pieces: readonly (string | Uint8Array)[]): Buffer {
    const hmac = createHmac(this.#algorithm, key)
    for (const piece of pieces) hmac.update(piece)
    return hmac.digest()
  }
}
