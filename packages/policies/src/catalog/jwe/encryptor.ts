import type { KeyObject } from 'node:crypto'
import { CompactEncrypt } from 'jose'
import { importJwk } from '../../crypto/jose/json-web-key.js'
import type { EncryptionPlan } from './plain-key.js'

/** Encrypts messages for one receiver, in compact form. */
export class Encryptor {
  readonly #key: KeyObject
  readonly #header: EncryptionPlan['header']

  constructor({ key, header }: EncryptionPlan) {
    this.#key = importJwk(key.jwk as Record<string, unknown>, 'encrypt').key
    this.#header = header
  }

  async encrypt(body: Uint8Array): Promise<Uint8Array> {
    const message = await new CompactEncrypt(body).setProtectedHeader(this.#header).encrypt(this.#key)
    return Buffer.from(message, 'latin1')
  }
}
