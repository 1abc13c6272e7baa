import type { OffloadedWork } from '@sluice/core'
import { CompactEncrypt } from 'jose'
import { importJwk } from '../../crypto/keys/key-material.js'
import { Decryptor } from './decryptor.js'
import type { DecryptionPlan, EncryptionPlan } from './plain-key.js'

/** Encrypts a body for one recipient, in compact serialisation, or decrypts it. The result is null if it cannot be decrypted. */
export const work: OffloadedWork<DecryptionPlan | EncryptionPlan, Uint8Array, Uint8Array | null> = (plan) => {
  if (plan.action === 'decrypt') {
    const decryptor = new Decryptor(plan)
    return (body) => decryptor.decrypt(body)
  }
  const { key } = importJwk(plan.key.jwk as Record<string, unknown>, 'encrypt')
  return async (body) =>
    Buffer.from(await new CompactEncrypt(body).setProtectedHeader(plan.header).encrypt(key), 'latin1')
}
