import { createHmac, createSecretKey, type KeyObject, timingSafeEqual, webcrypto } from 'node:crypto'
import { POOL_BYTES } from '../../crypto/digest/body-digest.js'

/** What is signed, piece by piece. */
export type Pieces = readonly (string | Uint8Array)[]

const WEB_NAMES: Readonly<Record<string, string>> = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
}

/** What a check found. */
export interface Check {
  readonly matches: boolean
  /** The HMAC under the first secret, by which the message is known whichever secret signed it. */
  readonly name: Buffer
}

/** HMACs under the secrets of a policy; those of large messages are made on threads of libuv. */
export class Mac {
  readonly #algorithm: string
  readonly #keys: readonly KeyObject[]
  readonly #webKeys: readonly Promise<webcrypto.CryptoKey>[]

  constructor(algorithm: string, secrets: readonly Uint8Array[]) {
    this.#algorithm = algorithm
    this.#keys = secrets.map((secret) => createSecretKey(secret))
    const parameters = { name: 'HMAC', hash: WEB_NAMES[algorithm]! }
    this.#webKeys = secrets.map((secret) =>
      webcrypto.subtle.importKey('raw', secret, parameters, false, ['sign']),
    )
  }

  /** Under the first secret. */
  sign(pieces: Pieces): Buffer | Promise<Buffer> {
    if (!isLarge(pieces)) return this.#under(this.#keys[0]!, pieces)
    return this.#underLater(this.#webKeys[0]!, joined(pieces))
  }

  /**
   * Whether any of the signatures is right under any secret. Every pair is compared, so that the time does not show
   * which one was.
   */
  check(pieces: Pieces, signatures: readonly Buffer[]): Check | Promise<Check> {
    if (!isLarge(pieces)) {
      return compared(
        this.#keys.map((key) => this.#under(key, pieces)),
        signatures,
      )
    }
    const message = joined(pieces)
    return Promise.all(this.#webKeys.map((key) => this.#underLater(key, message))).then((expected) =>
      compared(expected, signatures),
    )
  }

  #under(key: KeyObject, pieces: Pieces): Buffer {
    const hmac = createHmac(this.#algorithm, key)
    for (const piece of pieces) hmac.update(piece)
    return hmac.digest()
  }

  async #underLater(key: Promise<webcrypto.CryptoKey>, message: Uint8Array): Promise<Buffer> {
    return Buffer.from(await webcrypto.subtle.sign('HMAC', await key, message))
  }
}

function compared(expected: readonly Buffer[], signatures: readonly Buffer[]): Check {
  let matches = false
  for (const mac of expected) {
    for (const signature of signatures) {
      if (signature.length === mac.length && timingSafeEqual(signature, mac)) matches = true
    }
  }
  return { matches, name: expected[0]! }
}

function isLarge(pieces: Pieces): boolean {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length >= POOL_BYTES
}

function joined(pieces: Pieces): Buffer {
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
}
