import { createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { POOL_BYTES } from '../../crypto/digest/body-digest.js'
import { mac, macLater } from '../../crypto/keys/signature.js'
import { whenSettled } from '../../shared/outcome/when-settled.js'

/** Signed message in pieces. */
export type Pieces = readonly (string | Uint8Array)[]

/** Result of a verification. */
export interface Check {
  readonly matches: boolean
  /** HMAC with the first secret. It identifies the message whichever secret signed it. */
  readonly name: Buffer
}

/** HMACs with the secrets of a policy. Large messages are hashed on the libuv thread pool. */
export class Mac {
  readonly #algorithm: string
  readonly #keys: readonly KeyObject[]

  constructor(algorithm: string, secrets: readonly Uint8Array[]) {
    this.#algorithm = algorithm
    this.#keys = secrets.map((secret) => createSecretKey(secret))
  }

  /** Signs with the first secret. */
  sign(pieces: Pieces): Buffer | Promise<Buffer> {
    const message = joined(pieces)
    const make = message.length < POOL_BYTES ? mac : macLater
    return make(this.#algorithm, this.#keys[0]!, message)
  }

  /**
   * Verifies signatures. One valid pair of signature and secret is enough.
   * Compares every pair, so that timing does not reveal which one matched.
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
