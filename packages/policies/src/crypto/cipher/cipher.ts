import type { KeyConfig } from '../keys/key-ring.js'
import { cbcDecryptor, cbcEncryptor, gcmDecryptor, gcmEncryptor } from './aes.js'
import {
  hybridDecryptor,
  hybridEncryptor,
  oaepDecryptor,
  oaepEncryptor,
  rsa15Decryptor,
  rsa15Encryptor,
} from './rsa.js'

/** Encrypts under one key; null when the plaintext is too long for the algorithm. */
export type Encryptor = (plain: Uint8Array, context: Uint8Array) => Buffer | null
/** Decrypts under one key; null when that fails, for whatever reason. */
export type Decryptor = (sealed: Uint8Array, context: Uint8Array) => Decrypted | Promise<Decrypted>
export type Decrypted = Uint8Array | null

interface CipherKind {
  /** Needs `allowWeak`. */
  readonly isWeak: boolean
  /** Can bind a context to what it encrypts. */
  readonly bindsContext: boolean
  encryptor(key: KeyConfig): Encryptor
  decryptor(key: KeyConfig): Decryptor | Promise<Decryptor>
}

/** Every algorithm; the weak ones say so in their names, so that documents, `gw explain` and this table do too. */
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

export type CipherName = keyof typeof CIPHERS

/** The names that documents may write. */
export const CIPHER_NAMES = Object.keys(CIPHERS) as readonly CipherName[]

/** @throws Error for a weak algorithm that was not allowed, or a context that it cannot bind. */
export function cipherOf(name: CipherName, allowWeak: boolean, hasContext: boolean): CipherKind {
  const cipher = CIPHERS[name]
  if (cipher.isWeak && !allowWeak) {
    throw new Error(
      `'${name}' can be tampered with or guessed from its failures; use aes-256-gcm, or set allowWeak: true`,
    )
  }
  if (hasContext && !cipher.bindsContext) throw new Error(`'${name}' cannot bind a context; remove 'context'`)
  return cipher
}
