import { type ByteEncoding, decode, encode } from '../../shared/encoding/byte-text.js'

/** How encrypted bytes stand in a message; `raw` only as a whole body. */
export type SealedEncoding = ByteEncoding | 'raw'

/** What stands in a message: the bytes, and the key they name. */
export interface Sealed {
  /** Null when none is named. */
  readonly keyId: string | null
  readonly bytes: Uint8Array
}

/** Between the id of the key and the bytes; it stands in neither. */
const SEPARATOR = ':'

export function writeSealed(bytes: Buffer, encoding: SealedEncoding, keyId: string | null): Uint8Array {
  if (encoding === 'raw') return bytes
  const text = encode(bytes, encoding)
  return Buffer.from(keyId === null ? text : keyId + SEPARATOR + text)
}

/** Null when it is not in that encoding. */
export function readSealed(written: Uint8Array, encoding: SealedEncoding): Sealed | null {
  if (encoding === 'raw') return { keyId: null, bytes: written }
  const text = Buffer.from(written.buffer, written.byteOffset, written.byteLength).toString('latin1')
  const end = text.indexOf(SEPARATOR)
  const bytes = decode(end === -1 ? text : text.slice(end + 1), encoding)
  return bytes === null ? null : { keyId: end === -1 ? null : text.slice(0, end), bytes }
}
