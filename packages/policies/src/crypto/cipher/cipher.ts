import type { KeyConfig } from '../keys/key-ring.js'
import { cbcDecryptor, cbcEncryptor, gcmDecryptor, gcmEncryptor } from './aes.js'
import type { Decryptor, Encryptor } from './encryptor.js'
import {
  hybridDecryptor,
  hybridEncryptor,
  oaepDecryptor,
  oaepEncryptor,
  rsa15Decryptor,
  rsa15Encryptor,
} from './rsa.js'

interface CipherKind {
  /** True if the algorithm requires `allowWeak`. */
  readonly isWeak: boolean
  /** True if it can authenticate a context. */
  readonly bindsContext: boolean
  encryptor(key: KeyConfig): Encryptor
  decryptor(key: KeyConfig): Decryptor | Promise<Decryptor>
}

/** Encryption algorithms by name. Weak ones have `weak` in their names, so that documents and `gw explain` show it. */
export const CIPHERS = {
  'aes-256-gcm': { isWeak: false, bindsContext: true, encryptor: gcmEncryptor, decryptor: gcmDecryptor },
  'rsa-oaep-256': { isWeak: false, bindsContext: true, encryptor: oaepEncryptor, decryptor: oaepDecryptor },
  'rsa-oaep-256+aes-256-gcm': {
    isWeak: false,
    bindsContext: true,
    encryptor: hybridEncryptor,
    decryptor: hybridDecryptor,
  },
  'weak-aes-256-cbc': { isWeak: true, bindsContext: false, encryptor: cbcEncryptor, decryptor: cbcDecryptor },
  'weak-rsa1_5': { isWeak: true, bindsContext: false, encryptor: rsa15Encryptor, decryptor: rsa15Decryptor },
} as const satisfies Record<string, CipherKind>

/** Name of an encryption algorithm. */
export type CipherName = keyof typeof CIPHERS

/** Names for documents. */
export const CIPHER_NAMES = Object.keys(CIPHERS) as readonly CipherName[]

/** Returns an algorithm. @throws Error for a weak one that is not allowed, or a context that it cannot authenticate. */
export function cipherOf(name: CipherName, allowWeak: boolean, hasContext: boolean): CipherKind {
  const cipher = CIPHERS[name]
  if (cipher.isWeak && !allowWeak)
    throw new Error(
      `'${name}' is insecure: values can be tampered with or recovered through failures; use aes-256-gcm, or set allowWeak: true`,
    )
  if (hasContext && !cipher.bindsContext) throw new Error(`'${name}' cannot bind a context; remove 'context'`)
  return cipher
}
