import { type ByteEncoding, decode, encode } from '../../shared/encoding/byte-text.js'

/** Encoding of encrypted bytes in a message. `raw` is only for a whole body. */
export type SealedEncoding = ByteEncoding | 'raw'

/** Encrypted bytes of a message and the id of their key. */
export interface Sealed {
  /** Key id, or null if it is unknown. */
  readonly keyId: string | null
  readonly bytes: Uint8Array
}

/** Separator of the key id and the bytes. It occurs in neither. */
const SEPARATOR = ':'

/** Encodes encrypted bytes, with the key id if there is one. */
export function writeSealed(bytes: Buffer, encoding: SealedEncoding, keyId: string | null): Uint8Array {
  if (encoding === 'raw') return bytes
  const text = encode(bytes, encoding)
  return Buffer.from(keyId === null ? text : keyId + SEPARATOR + text)
}

/** Decodes encrypted bytes, or returns null for another encoding. */
export function readSealed(written: Uint8Array, encoding: SealedEncoding): Sealed | null {
  if (encoding === 'raw') return { keyId: null, bytes: written }
  const text = Buffer.from(written.buffer, written.byteOffset, written.byteLength).toString('latin1')
  const end = text.indexOf(SEPARATOR)
  const bytes = decode(end === -1 ? text : text.slice(end + 1), encoding)
  return bytes === null ? null : { keyId: end === -1 ? null : text.slice(0, end), bytes }
}
