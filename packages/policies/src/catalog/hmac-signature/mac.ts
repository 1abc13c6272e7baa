import { createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { POOL_BYTES } from '../../crypto/digest/body-digest.js'
import { mac, macLater } from '../../crypto/keys/signature.js'
import { whenSettled } from '../../shared/when-settled.js'

/** What is signed, piece by piece. */
export type Pieces = readonly (string | Uint8Array)[]

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

  constructor(algorithm: string, secrets: readonly Uint8Array[]) {
    this.#algorithm = algorithm
    this.#keys = secrets.map((secret) => createSecretKey(secret))
  }

  /** Under the first secret. */
  sign(pieces: Pieces): Buffer | Promise<Buffer> {
    const message = joined(pieces)
    const make = message.length < POOL_BYTES ? mac : macLater
    return make(this.#algorithm, this.#keys[0]!, message)
  }

  /**
   * Whether any of the signatures is right under any secret. Every pair is compared, so that the time does not show
   * which one was.
   */
  check(pieces: Pieces, signatures: readonly Buffer[]): Check | Promise<Check> {
    const message = joined(pieces)
    const expected =
      message.length < POOL_BYTES
        ? this.#keys.map((key) => mac(this.#algorithm, key, message))
        : Promise.all(this.#keys.map((key) => macLater(this.#algorithm, key, message)))
    return whenSettled(expected, (macs) => compared(macs, signatures))
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

function joined(pieces: Pieces): Uint8Array {
  const [only, ...others] = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  return only !== undefined && others.length === 0 ? only : Buffer.concat([only!, ...others])
}
