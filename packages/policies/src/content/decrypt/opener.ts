import type { Exchange } from '@sluice/core'
import { type CipherName, cipherOf } from '../../crypto/cipher/cipher.js'
import { compileContext } from '../../crypto/cipher/context.js'
import type { Decrypted, Decryptor } from '../../crypto/cipher/encryptor.js'
import { readSealed, type SealedEncoding } from '../../crypto/cipher/sealed-text.js'
import type { KeyRing } from '../../crypto/keys/key-ring.js'

/** Settings for decrypting one value. */
export interface OpenerConfig {
  readonly algorithm: CipherName
  readonly keys: readonly string[]
  readonly encoding: SealedEncoding
  readonly context?: string
}

/** Decrypts an encoded value. Returns null if anything fails. */
export type Opener = (written: Uint8Array, x: Exchange) => Decrypted | Promise<Decrypted>

/** Compiles the decryption of a value. @throws Error if a key cannot be used. */
export async function compileOpener(
  config: OpenerConfig,
  ring: KeyRing,
  allowWeak: boolean,
): Promise<Opener> {
  const cipher = cipherOf(config.algorithm, allowWeak, config.context !== undefined)
  const decryptors = new Map<string, Decryptor>()
  for (const id of config.keys) decryptors.set(id, await cipher.decryptor(ring.get(id)))
  const context = compileContext(config.context)
  const all = [...decryptors.values()]
  return (written, x) => {
    const sealed = readSealed(written, config.encoding)
    if (sealed === null) return null
    if (sealed.keyId === null) return firstThatOpens(all, sealed.bytes, context(x))
    return decryptors.get(sealed.keyId)?.(sealed.bytes, context(x)) ?? null
  }
}

/** Tries each decryptor. Returns a promise only if a key works asynchronously. */
function firstThatOpens(
  decryptors: readonly Decryptor[],
  sealed: Uint8Array,
  context: Uint8Array,
): Decrypted | Promise<Decrypted> {
  for (let i = 0; i < decryptors.length; i++) {
    const opened = decryptors[i]!(sealed, context)
    if (opened instanceof Promise)
      return opened.then((late) => late ?? firstThatOpens(decryptors.slice(i + 1), sealed, context))
    if (opened !== null) return opened
  }
  return null
}
