import type { KeyObject } from 'node:crypto'
import { compactDecrypt } from 'jose'
import { type JoseHeader, parseJoseHeader } from '../../crypto/jose/jws-header.js'
import { KeyTable } from '../../crypto/jose/key-table.js'
import { importJwk } from '../../crypto/keys/key-material.js'
import { decode } from '../../shared/encoding/byte-text.js'
import { memberOf } from '../../shared/json/strict-json.js'
import { withContext } from '../../shared/outcome/with-context.js'
import type { DecryptionPlan } from './plain-key.js'

/** Maximum length of the protected header, in characters. */
const MAX_HEADER_LENGTH = 16 * 1024
const DOT = 46

/** Decrypts messages in compact serialisation. */
export class Decryptor {
  readonly #keys = new KeyTable<KeyObject>()
  readonly #encryptions: readonly string[]

  /** @throws Error if keys cannot be told apart. */
  constructor({ keys, encryptions }: DecryptionPlan) {
    this.#encryptions = encryptions
    for (const [i, { kid, algorithms, jwk }] of keys.entries()) {
      const { key } = importJwk(jwk as Record<string, unknown>, 'decrypt')
      for (const alg of algorithms) withContext(`key ${i + 1}`, () => this.#keys.add(alg, kid, key))
    }
  }

  /**
   * Returns the plaintext, or null if the message cannot be decrypted for any reason. The reason stays secret
   * so that attackers learn nothing from failures (RFC 7516 section 11.5).
   */
  async decrypt(body: Uint8Array): Promise<Uint8Array | null> {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const dot = bytes.indexOf(DOT)
    if (dot < 1 || dot > MAX_HEADER_LENGTH) return null
    const header = parseJoseHeader(bytes.toString('latin1', 0, dot))
    if (header === null || !this.#isAllowed(header)) return null
    const message = bytes.toString('latin1')
    if (!isCompact(message)) return null
    for (const key of this.#keys.candidates(header.alg, header.kid)) {
      const plaintext = await this.#decryptWith(key, header.alg, message)
      if (plaintext !== null) return plaintext
    }
    return null
  }

  /**
   * Refuses compression. It leaks information through the length, and a small message could expand to a huge
   * one.
   */
  #isAllowed({ crit, all }: JoseHeader): boolean {
    if (crit !== null || Object.hasOwn(all, 'zip')) return false
    return this.#encryptions.includes(memberOf(all, 'enc') as string)
  }

  /**
   * Decrypts with one key. If a key cannot be unwrapped, jose continues with a random one, so that both
   * failures look the same.
   */
  #decryptWith(key: KeyObject, alg: string, message: string): Promise<Uint8Array | null> {
    return compactDecrypt(message, key, {
      keyManagementAlgorithms: [alg],
      contentEncryptionAlgorithms: [...this.#encryptions],
      maxDecompressedLength: 0,
    }).then(
      ({ plaintext }) => plaintext,
      () => null,
    )
  }
}

/** True for five canonical base64url segments. jose would also accept padding and white space. */
function isCompact(message: string): boolean {
  const segments = message.split('.', 6)
  return segments.length === 5 && segments.every((segment) => decode(segment, 'base64url') !== null)
}
