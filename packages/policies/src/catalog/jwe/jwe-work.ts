import type { OffloadedWork } from '@sluice/core'
import { Decryptor } from './decryptor.js'
import { Encryptor } from './encryptor.js'
import type { DecryptionPlan, EncryptionPlan } from './plain-key.js'

/** Encrypts or decrypts a body; null: it cannot be decrypted. */
export const work: OffloadedWork<DecryptionPlan | EncryptionPlan, Uint8Array, Uint8Array | null> = (plan) => {
  if (plan.action === 'decrypt') {
    const decryptor = new Decryptor(plan)
    return (body) => decryptor.decrypt(body)
  }
  const encryptor = new Encryptor(plan)
  return (body) => encryptor.encrypt(body)
}
