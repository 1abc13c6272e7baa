import { type Chunk, chunkDigest, MAX_CHUNK_BYTES } from './chunks.js'

const LENGTH_BYTES = 4

/** Packs chunks for an upload: each one after its length, 4 bytes, big-endian. */
export function packChunks(chunks: Iterable<Uint8Array>): Buffer {
  const parts: Uint8Array[] = []
  for (const bytes of chunks) {
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32BE(bytes.length)
    parts.push(length, bytes)
  }
  return Buffer.concat(parts)
}

/** Unpacks chunks and computes their digests. Returns null if the bytes are no packed chunks. */
export function unpackChunks(packed: Buffer): Chunk[] | null {
  const chunks: Chunk[] = []
  for (let at = 0; at < packed.length; ) {
    if (at + LENGTH_BYTES > packed.length) return null
    const start = at + LENGTH_BYTES
    at = start + packed.readUInt32BE(at)
    if (at === start || at - start > MAX_CHUNK_BYTES || at > packed.length) return null
    const bytes = packed.subarray(start, at)
    chunks.push({ digest: chunkDigest(bytes), bytes })
  }
  return chunks
}
