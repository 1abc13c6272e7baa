import type { KeyObject } from 'node:crypto'
import type { OffloadedWork } from '@sluice/core'
import { CompactEncrypt } from 'jose'
import { importJwk } from '../../crypto/keys/key-material.js'
import { Decryptor } from './decryptor.js'
import type { DecryptionPlan, EncryptionPlan } from './plain-key.js'

/** Encrypts messages for one recipient, in compact serialisation. */
class Encryptor {
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

/** Encrypts or decrypts a body. The result is null if it cannot be decrypted. */
export const work: OffloadedWork<DecryptionPlan | EncryptionPlan, Uint8Array, Uint8Array | null> = (plan) => {
  if (plan.action === 'decrypt') {
    const decryptor = new Decryptor(plan)
    return (body) => decryptor.decrypt(body)
  }
  const encryptor = new Encryptor(plan)
  return (body) => encryptor.encrypt(body)
}
